import { BufferReader, Field, Root, Type, Writer } from 'protobufjs';
import type {
  AuthenticateRequest,
  AuthenticateResponse,
  CompactionRequest,
  Empty,
  HeaderOnly,
  LeaseGrantRequest,
  LeaseGrantResponse,
  RangeRequest,
  RangeResponse,
  StatusResponse,
  TxnRequest,
  TxnResponse,
  WatchRequest,
  WatchResponse,
} from './proto';
import { encodeTxn } from './encode-txn';
import { MESSAGES } from './proto';
import type { Method } from './transport';
import { wordTable } from '../../../shared/word-table';

/** What a field reads as that is not on the wire, where protobufjs would give an array or a Long. */
const ABSENT = wordTable<unknown>({ bytes: Buffer.alloc(0), int64: 0, uint64: '0' });
const root = buildRoot();

/** The remote procedures that orch calls. */
export const METHODS = {
  range: method<RangeRequest, RangeResponse>('/etcdserverpb.KV/Range', 'RangeRequest', 'RangeResponse'),
  txn: {
    ...method<TxnRequest, TxnResponse>('/etcdserverpb.KV/Txn', 'TxnRequest', 'TxnResponse'),
    encode: encodeTxn,
  },
  compact: method<CompactionRequest, HeaderOnly>(
    '/etcdserverpb.KV/Compact',
    'CompactionRequest',
    'HeaderOnly',
  ),
  watch: method<WatchRequest, WatchResponse>('/etcdserverpb.Watch/Watch', 'WatchRequest', 'WatchResponse'),
  leaseGrant: method<LeaseGrantRequest, LeaseGrantResponse>(
    '/etcdserverpb.Lease/LeaseGrant',
    'LeaseGrantRequest',
    'LeaseGrantResponse',
  ),
  status: method<Empty, StatusResponse>('/etcdserverpb.Maintenance/Status', 'Empty', 'StatusResponse'),
  authenticate: method<AuthenticateRequest, AuthenticateResponse>(
    '/etcdserverpb.Auth/Authenticate',
    'AuthenticateRequest',
    'AuthenticateResponse',
  ),
} as const;

const INT32_BITS = 32;
const BITS_PER_BYTE = 7;
const VARINT_BYTES_MAX = 10;
/** Up to 7 bytes hold 49 bits, which a double adds up exactly. */
const EXACT_VARINT_BYTES = 7;

/**
 * Reads 64-bit integers as this client wants them, without the process-wide `util.Long` switch of protobufjs: signed ones
 * (revisions, counts) as numbers, unsigned ones (ids) as hexadecimal strings.
 */
class EtcdReader extends BufferReader {
  /** The base class promises a Long; the message types say what really comes. */
  override int64(): never {
    return this.#signed() as never;
  }

  override uint64(): never {
    const { low, high } = this.#words();
    return hexOf(high, low) as never;
  }

  #signed(): number {
    let value = 0;
    let scale = 1;
    for (let index = 0; index < EXACT_VARINT_BYTES; index++) {
      const byte = this.#nextByte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
    this.pos -= EXACT_VARINT_BYTES;
    const { low, high } = this.#words();
    return (high | 0) * 2 ** INT32_BITS + low;
  }

  #words(): { low: number; high: number } {
    let low = 0;
    let high = 0;
    for (let index = 0; index < VARINT_BYTES_MAX; index++) {
      const byte = this.#nextByte();
      const bits = byte & 0x7f;
      const shift = index * BITS_PER_BYTE;
      if (shift < INT32_BITS) low |= bits << shift;
      if (shift > INT32_BITS) high |= bits << (shift - INT32_BITS);
      else if (shift + BITS_PER_BYTE > INT32_BITS) high |= bits >>> (INT32_BITS - shift);
      if (byte < 0x80) return { low: low >>> 0, high: high >>> 0 };
    }
    throw new RangeError('A varint of the message is longer than 10 bytes.');
  }

  #nextByte(): number {
    const byte = this.pos < this.len ? this.buf[this.pos++] : undefined;
    if (byte === undefined) throw new RangeError('The message ends in the middle of a number.');
    return byte;
  }
}

const KNOWN_IDS_MAX = 64;
/** By their lower halves. Every answer repeats the ids of the same few clusters and members. */
const knownIds = new Map<number, { readonly high: number; readonly text: string }>();

function hexOf(high: number, low: number): string {
  const known = knownIds.get(low);
  if (known?.high === high) return known.text;
  const text = high.toString(16) + low.toString(16).padStart(8, '0');
  if (knownIds.size >= KNOWN_IDS_MAX) knownIds.clear();
  knownIds.set(low, { high, text });
  return text;
}

function method<Request extends object, Response>(
  path: string,
  requestName: string,
  responseName: string,
): Method<Request, Response> {
  const requestType = root.lookupType(requestName);
  const responseType = root.lookupType(responseName);
  return {
    path,
    encode: (request) => requestType.encode(request, headRoom()).finish() as Buffer,
    decode: (bytes) => {
      const reader = new EtcdReader(bytes);
      reader.discardUnknown = true;
      return responseType.decode(reader) as unknown as Response;
    },
  };
}

/** A writer whose message begins behind the room for its frame's head, so that it need not be copied there. */
function headRoom(): Writer {
  return Writer.create().fixed32(0).bool(false);
}

function buildRoot(): Root {
  const made = new Root();
  for (const [name, fields] of Object.entries(MESSAGES)) {
    const type = new Type(name);
    for (const [field, text] of Object.entries(fields)) {
      const [number = '', kind = '', rule] = text.split(' ').toReversed();
      type.add(new Field(field, Number(number), kind, rule));
    }
    made.add(type);
    for (const [field, text] of Object.entries(fields)) {
      const absent = ABSENT.get(text.split(' ')[0] ?? '');
      if (absent !== undefined) Reflect.set(type.ctor.prototype as object, field, absent);
    }
  }
  return made;
}
