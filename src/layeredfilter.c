#include "layeredfilter.h"
int64
bs_layered_time(FunctionCallInfo fcinfo, const BsFilter *header, bool question)
{
	(void) fcinfo;
	(void) header;
	(void) question;
	return 0;
}
void
bs_layered_require_memory(const BsFilter *header, int64 at)
{
	(void) header;
	(void) at;
}
