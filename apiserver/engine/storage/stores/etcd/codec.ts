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
import type { Method } from '../../grpc/transport';
import { ownKeyMap } from '../../../../../shared/own-key-map';

/** Defaults of absent fields, where protobufjs would return an array or a Long. */
const ABSENT = ownKeyMap<unknown>({ bytes: Buffer.alloc(0), int64: 0, uint64: '0' });
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
const LAST_SHIFT_OF_LOW = 28;
const FIRST_SHIFT_OF_HIGH = LAST_SHIFT_OF_LOW + BITS_PER_BYTE - INT32_BITS;
/** Up to 7 bytes hold 49 bits, which a double adds up exactly. */
const EXACT_VARINT_BYTES = 7;

/**
 * Reads 64-bit integers as this client wants them, without the process-wide `util.Long` switch of protobufjs: signed ones
 * (revisions, counts) as numbers, unsigned ones (ids) as hexadecimal strings. Tags and lengths nearly always
 * have one byte.
 */
class EtcdReader extends BufferReader {
  override tag(): number {
    return this.#oneByte() ?? super.tag();
  }

  override size(): number {
    return this.#oneByte() ?? super.size();
  }

  /** The base class declares a Long; the message types declare the actual type. */
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

  /** The fifth byte has bits of both words. */
  #words(): { low: number; high: number } {
    let low = 0;
    let byte = 0;
    for (let shift = 0; shift < INT32_BITS; shift += BITS_PER_BYTE) {
      byte = this.#nextByte();
      low |= (byte & 0x7f) << shift;
      if (byte < 0x80 && shift < LAST_SHIFT_OF_LOW) return { low: low >>> 0, high: 0 };
    }
    let high = (byte & 0x7f) >>> (INT32_BITS - LAST_SHIFT_OF_LOW);
    for (let shift = FIRST_SHIFT_OF_HIGH; byte >= 0x80; shift += BITS_PER_BYTE) {
      if (shift >= INT32_BITS) throw new RangeError('A varint of the message is longer than 10 bytes.');
      byte = this.#nextByte();
      high |= (byte & 0x7f) << shift;
    }
    return { low: low >>> 0, high: high >>> 0 };
  }

  /** The number that one byte holds; undefined, with nothing read, where it is one of several. */
  #oneByte(): number | undefined {
    const byte = this.pos < this.len ? this.buf[this.pos] : undefined;
    if (byte === undefined || byte >= 0x80) return undefined;
    this.pos += 1;
    return byte;
  }

  #nextByte(): number {
    const byte = this.pos < this.len ? this.buf[this.pos++] : undefined;
    if (byte === undefined) throw new RangeError('The message ends in the middle of a number.');
    return byte;
  }
}

const KNOWN_IDS_MAX = 64;
/** Interned ids by their lower halves. Every answer repeats the ids of the same few clusters and members. */
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

/** A writer that leaves room for the frame head before the message, which saves a copy. */
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
