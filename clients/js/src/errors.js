/** The bytes are not a filter, are damaged, or are not the kind of filter that was asked for. */
export class FilterError extends Error {
  name = 'FilterError';
  code = 'ERR_BLOOMSET_FILTER';
}

/** The value cannot be a key of this filter; "no" would be a wrong answer. */
export class KeyError extends TypeError {
  name = 'KeyError';
  code = 'ERR_BLOOMSET_KEY';
}

/** A layered filter has dropped what would be needed to answer for this time. */
export class ForgottenError extends Error {
  name = 'ForgottenError';
  code = 'ERR_BLOOMSET_FORGOTTEN';
}
