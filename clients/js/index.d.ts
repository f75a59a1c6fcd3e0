/** A value's key type and hash: PostgreSQL's bfkey. It stands for the value in every filter. */
export class Key {
  /** @param hash two halves, signed 32-bit integers */
  constructor(type: number, hash: { hi: number; lo: number });
  readonly type: number;
  readonly hash: { hi: number; lo: number };
  /** The text form of bfkey. */
  toString(): string;
  /** As bf_shard: which of so many filters the key belongs to. */
  shard(shards: number): number;
}

/** Classes of key types; the number is the key type itself where nothing more is to be told. */
export const keyTypes: {
  readonly integer: 1;
  readonly float: 2;
  readonly text: 3;
  readonly bytes: 4;
  readonly boolean: 5;
  readonly uuid: 6;
  readonly macaddr: 7;
  readonly macaddr8: 8;
  readonly inet: 9;
  readonly timestamp: 10;
  readonly timestamptz: 11;
  readonly time: 12;
  readonly array: 13;
  readonly record: 14;
  readonly range: 15;
  readonly multirange: 16;
  readonly char: 17;
  readonly other: 255;
};

type Elements = (Key | null)[] | Elements[];

/** Keys of values of each type. */
export const key: {
  /** smallint, integer, bigint and integral numeric; a number must be a safe integer. */
  integer(value: bigint | number): Key;
  /** numeric, and integers as text: '1.50', '-3e7', 'NaN'. */
  numeric(value: string | bigint): Key;
  /** double precision. */
  float(value: number): Key;
  /** real: the double that the nearest real is. */
  real(value: number): Key;
  /** text, varchar, char(n), name; enums by their label. */
  text(value: string): Key;
  /** bytea. */
  bytes(value: Uint8Array | ArrayBuffer): Key;
  boolean(value: boolean): Key;
  /** Text, or the 16 bytes. */
  uuid(value: string | Uint8Array): Key;
  macaddr(value: string): Key;
  macaddr8(value: string): Key;
  /** inet and cidr. */
  inet(value: string): Key;
  date(value: string): Key;
  /** timestamp without time zone; a date is its midnight. */
  timestamp(value: string): Key;
  /** A string needs its time zone. */
  timestamptz(value: Date | string): Key;
  time(value: string): Key;
  /** The type "char": an ASCII character, or the byte. */
  char(value: string | number): Key;
  /** Keys and nulls, in arrays of arrays if there are more dimensions. `type`: where no element tells it. */
  array(elements: Elements, options?: { type?: number; lower?: number[] }): Key;
  /** Composite types and ROW(...): keys; of a column that is NULL its key type. */
  record(columns: (Key | number)[]): Key;
  /** In PostgreSQL's canonical form; null: no bound. `type`: where neither bound tells it. */
  range(lower: Key | null, upper: Key | null, options?: { bounds?: '[)' | '[]' | '()' | '(]' | 'empty'; type?: number }): Key;
  /** Ranges that ascend and do not touch. `type`: of the bounds, where there is no range. */
  multirange(ranges: Key[], options?: { type?: number }): Key;
  /** A bfkey's text form. */
  parse(text: string): Key;
};

export type Kind = 'bloomfilter' | 'countingfilter' | 'cuckoofilter' | 'scalablefilter' | 'layeredfilter';

/** What a filter has to be, or loading it is an error. */
export interface Expected {
  kind?: Kind;
  keys?: keyof typeof keyTypes;
}

/** A plain value, if it can only mean one key of the filter's key type; or a Key. */
export type Value = Key | string | number | bigint | boolean | Uint8Array | ArrayBuffer | Date;

/** A filter; it never changes. */
export class Filter {
  private constructor();
  /**
   * From the bytes of `f::bytea`, its text (\x...), the text form of f (base64), or binary COPY of one row with one
   * column. Bytes are copied.
   */
  static read(source: Uint8Array | ArrayBuffer | string, expected?: Expected): Filter;
  /** From a file with any of these. */
  static open(path: string | URL, expected?: Expected): Promise<Filter>;
  /**
   * False: the key was certainly not added. True: it probably was.
   * @param options.at of a layeredfilter: the time asked for; without it now, or its newest span if that is later
   * @throws KeyError where the value cannot be a key of this filter
   * @throws ForgottenError where a layer that was alive then has been dropped
   */
  has(value: Value, options?: { at?: Date | string }): boolean;
  readonly kind: Kind;
  /** What the keys are; null before the first key. */
  readonly keyType: string | null;
  /** Number of distinct keys it was made for. */
  readonly n: bigint;
  /** Rate of false positives it was made for. */
  readonly p: number;
  readonly seed: bigint;
  /** Length of the portable form. */
  readonly byteLength: number;
}

/** The bytes are not a filter, are damaged, or are not the kind of filter that was asked for. */
export class FilterError extends Error {
  code: 'ERR_BLOOMSET_FILTER';
}

/** The value cannot be a key of this filter; "no" would be a wrong answer. */
export class KeyError extends TypeError {
  code: 'ERR_BLOOMSET_KEY';
}

/** A layered filter has dropped what would be needed to answer for this time. */
export class ForgottenError extends Error {
  code: 'ERR_BLOOMSET_FORGOTTEN';
}
