/**
 * The part of etcd's v3 API that orch speaks, as data: one row per field with its protobuf type and number. Unused
 * fields are omitted and skipped on the wire. Revisions and counts are numbers, ids of clusters and members are hexadecimal
 * strings (they use all 64 bits), keys and values are Buffers that point into the message they came in.
 */
export const MESSAGES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Empty: {},
  ResponseHeader: { clusterId: 'uint64 1', memberId: 'uint64 2', revision: 'int64 3' },
  HeaderOnly: { header: 'ResponseHeader 1' },
  KeyValue: {
    key: 'bytes 1',
    createRevision: 'int64 2',
    modRevision: 'int64 3',
    version: 'int64 4',
    value: 'bytes 5',
  },
  RangeRequest: {
    key: 'bytes 1',
    rangeEnd: 'bytes 2',
    limit: 'int64 3',
    revision: 'int64 4',
    keysOnly: 'bool 8',
    countOnly: 'bool 9',
  },
  RangeResponse: {
    header: 'ResponseHeader 1',
    kvs: 'repeated KeyValue 2',
    more: 'bool 3',
    count: 'int64 4',
  },
  PutRequest: { key: 'bytes 1', value: 'bytes 2', lease: 'int64 3' },
  DeleteRangeRequest: { key: 'bytes 1', prevKv: 'bool 3' },
  DeleteRangeResponse: { deleted: 'int64 2', prevKvs: 'repeated KeyValue 3' },
  RequestOp: { range: 'RangeRequest 1', put: 'PutRequest 2', deleteRange: 'DeleteRangeRequest 3' },
  ResponseOp: { range: 'RangeResponse 1', deleteRange: 'DeleteRangeResponse 3' },
  Compare: {
    target: 'int32 2',
    key: 'bytes 3',
    version: 'int64 4',
    createRevision: 'int64 5',
    modRevision: 'int64 6',
  },
  TxnRequest: {
    compare: 'repeated Compare 1',
    success: 'repeated RequestOp 2',
    failure: 'repeated RequestOp 3',
  },
  TxnResponse: { header: 'ResponseHeader 1', succeeded: 'bool 2', responses: 'repeated ResponseOp 3' },
  CompactionRequest: { revision: 'int64 1' },
  WatchCreateRequest: {
    key: 'bytes 1',
    rangeEnd: 'bytes 2',
    startRevision: 'int64 3',
    prevKv: 'bool 6',
    fragment: 'bool 8',
  },
  WatchRequest: { create: 'WatchCreateRequest 1' },
  Event: { type: 'int32 1', kv: 'KeyValue 2', prevKv: 'KeyValue 3' },
  WatchResponse: {
    header: 'ResponseHeader 1',
    created: 'bool 3',
    canceled: 'bool 4',
    compactRevision: 'int64 5',
    cancelReason: 'string 6',
    fragment: 'bool 7',
    events: 'repeated Event 11',
  },
  LeaseGrantRequest: { ttlSeconds: 'int64 1', id: 'int64 2' },
  LeaseGrantResponse: { header: 'ResponseHeader 1', id: 'int64 2', ttlSeconds: 'int64 3' },
  StatusResponse: {
    header: 'ResponseHeader 1',
    version: 'string 2',
    dbSizeBytes: 'int64 3',
    leader: 'uint64 4',
    errors: 'repeated string 8',
    dbSizeInUseBytes: 'int64 9',
    isLearner: 'bool 10',
  },
  AuthenticateRequest: { name: 'string 1', password: 'string 2' },
  AuthenticateResponse: { token: 'string 2' },
};

export const COMPARE_TARGET = { version: 0, create: 1, mod: 2 } as const;
export const EVENT_TYPE = { put: 0, delete: 1 } as const;

export type Empty = Readonly<Record<string, never>>;

export interface ResponseHeader {
  readonly clusterId: string;
  readonly memberId: string;
  readonly revision: number;
}

export interface HeaderOnly {
  readonly header: ResponseHeader;
}

export interface KeyValue {
  readonly key: Buffer;
  readonly createRevision: number;
  readonly modRevision: number;
  /** The number of writes since the key was created. */
  readonly version: number;
  readonly value: Buffer;
}

export interface RangeRequest {
  readonly key: Buffer;
  /** Absent: the single key. */
  readonly rangeEnd?: Buffer;
  readonly limit?: number;
  /** Absent: the newest. */
  readonly revision?: number;
  readonly keysOnly?: boolean;
  readonly countOnly?: boolean;
}

export interface RangeResponse {
  readonly header: ResponseHeader;
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
  /** How many keys the range holds, whatever the limit. */
  readonly count: number;
}

export interface PutRequest {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly lease?: number;
}

export interface DeleteRangeRequest {
  readonly key: Buffer;
  readonly prevKv?: boolean;
}

/** What transactions use of it, and so what is written. */
export interface RequestOp {
  readonly range?: Pick<RangeRequest, 'key' | 'keysOnly'>;
  readonly put?: PutRequest;
  readonly deleteRange?: DeleteRangeRequest;
}

/** `result` is left at its default, which is "equal". */
export interface Compare {
  readonly target: (typeof COMPARE_TARGET)[keyof typeof COMPARE_TARGET];
  readonly key: Buffer;
  readonly version?: number;
  readonly createRevision?: number;
  readonly modRevision?: number;
}

export interface TxnRequest {
  readonly compare: readonly Compare[];
  readonly success: readonly RequestOp[];
  readonly failure: readonly RequestOp[];
  /** Further comparisons and operations, after the others: the result of `encodeShared`. */
  readonly encoded?: Buffer | undefined;
}

export interface ResponseOp {
  readonly range: RangeResponse | null;
  readonly deleteRange: { readonly deleted: number; readonly prevKvs: readonly KeyValue[] } | null;
}

export interface TxnResponse {
  readonly header: ResponseHeader;
  readonly succeeded: boolean;
  readonly responses: readonly ResponseOp[];
}

export interface CompactionRequest {
  readonly revision: number;
}

export interface WatchRequest {
  readonly create: {
    readonly key: Buffer;
    readonly rangeEnd: Buffer;
    readonly startRevision: number;
    readonly prevKv: boolean;
    readonly fragment: boolean;
  };
}

export interface WatchEvent {
  readonly type: number;
  readonly kv: KeyValue;
  readonly prevKv: KeyValue | null;
}

export interface WatchResponse {
  readonly header: ResponseHeader;
  readonly created: boolean;
  readonly canceled: boolean;
  /** Greater than 0 when the watch was refused because its start is compacted. */
  readonly compactRevision: number;
  readonly cancelReason: string;
  /** More of the same batch follows in the next response. */
  readonly fragment: boolean;
  readonly events: readonly WatchEvent[];
}

export interface LeaseGrantRequest {
  readonly ttlSeconds: number;
  readonly id: number;
}

export interface LeaseGrantResponse {
  readonly header: ResponseHeader;
  readonly id: number;
  readonly ttlSeconds: number;
}

export interface StatusResponse {
  readonly header: ResponseHeader;
  readonly version: string;
  readonly dbSizeBytes: number;
  readonly leader: string;
  readonly errors: readonly string[];
  readonly dbSizeInUseBytes: number;
  readonly isLearner: boolean;
}

export interface AuthenticateRequest {
  readonly name: string;
  readonly password: string;
}

export interface AuthenticateResponse {
  readonly token: string;
}
