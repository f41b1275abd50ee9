import type { ListMeta } from '../../../shared/object/object';
import { apiVersionOf } from '../../../shared/object/object';
import { MEDIA_TYPE } from '../../../shared/names';
import { encodeProtobuf } from '../../../shared/protobuf/encode';
import { envelopeAround, wrapEnvelope } from '../../../shared/protobuf/envelope';
import { decodeJson } from '../../../shared/schema/decode';
import type { MessageType } from '../../../shared/schema/types';
import { messageType } from '../../../shared/schema/types';
import type { Endpoint } from '../registry/resource';
import { Slices } from '../../../shared/concurrency/slices';
import type { Batches } from './batch';
import { Batch, bodyOf } from './batch';
import { bookmarkMetadata } from './json-encoder';
import { metadataSource } from './metadata-source';
import type { Shape } from './negotiation';
import type { FormatEncoder } from './object-encoder';
import type { LinkPlace } from './self-link';
import { linkPlaceId, linking } from './self-link';
import type { Source } from './source';
import { kept, metadataEnd, versionedBytes } from './source';

const STATUS = { kind: 'Status', apiVersion: 'v1' } as const;

/** The encoded content: whole objects of an endpoint, or only their metadata. */
interface Encoded {
  readonly kind: string;
  readonly listKind: string;
  readonly apiVersion: string;
  readonly type: MessageType;
  readonly listType: MessageType;
  /** Returns the JSON of the content, from `"metadata":{` to the closing brace of the object. */
  readonly json: (source: Source) => Buffer;
}

/**
 * Encodes objects as Protobuf, with links if they have a place. Each object is encoded once and cached; answers and
 * frames wrap it.
 */
export function protobufEncoder(
  endpoint: Endpoint,
  shape: Shape | undefined,
  links: LinkPlace | undefined,
): FormatEncoder {
  const encoded = shape === undefined ? wholeObjects(endpoint) : metadataOnly(endpoint, shape);
  const { kind, apiVersion, type } = encoded;
  const plainId = `protobuf ${apiVersion} ${kind}`;
  const id = links === undefined ? plainId : `${plainId} ${linkPlaceId(links)}`;
  const shown = links === undefined ? (source: Source): Source => source : linking(links);
  const rawOf = (source: Source): Buffer =>
    kept(source, id, () =>
      encodeProtobuf(type, decodeJson(Buffer.concat([OPEN, encoded.json(shown(source))])) as object),
    );
  const document = (raw: Buffer): Buffer => wrapEnvelope({ kind, apiVersion, raw });
  return {
    id,
    contentType: MEDIA_TYPE.protobuf,
    streamContentType: `${MEDIA_TYPE.protobuf};stream=watch`,
    object: (source) => document(rawOf(source)),
    element: rawOf,
    list: async (metadata, sources, elsewhere) => {
      const items: Buffer[] = [];
      const slices = new Slices();
      for (const source of sources) {
        const made = elsewhere?.(source);
        items.push(made === undefined ? rawOf(source) : await made);
        if (slices.due()) await slices.pause();
      }
      return bodyOf(listBatches(encoded, metadata, items));
    },
    frame: (eventType, entry) => watchFrame(eventType, document(rawOf(entry))),
    bookmark: (revision, initialEventsEnd) =>
      watchFrame(
        'BOOKMARK',
        document(encodeProtobuf(type, { metadata: bookmarkMetadata(revision, initialEventsEnd) })),
      ),
    error: (status) =>
      watchFrame(
        'ERROR',
        wrapEnvelope({ ...STATUS, raw: encodeProtobuf(messageType('meta/v1.Status'), status) }),
      ),
    stream: (frames) => frames,
  };
}

const OPEN = Buffer.from('{');
const CLOSE = Buffer.from('}');

function wholeObjects(endpoint: Endpoint): Encoded {
  const { row, apiVersion, type } = endpoint;
  const packageName = type.name.slice(0, type.name.lastIndexOf('.'));
  return {
    kind: row.kind,
    listKind: row.listKind,
    apiVersion,
    type,
    // A kind without a list never uses it.
    listType: row.listKind === '' ? type : messageType(`${packageName}.${row.listKind}`),
    json: (source) => versionedBytes(endpoint, source),
  };
}

function metadataOnly(endpoint: Endpoint, shape: Shape): Encoded {
  const metadataOf = metadataSource(endpoint);
  return {
    kind: 'PartialObjectMetadata',
    listKind: 'PartialObjectMetadataList',
    apiVersion: apiVersionOf(shape),
    type: messageType('meta/v1.PartialObjectMetadata'),
    listType: messageType(`meta/${shape.version}.PartialObjectMetadataList`),
    json: (source) => {
      const metadata = metadataOf(source);
      return Buffer.concat([metadata.bytes.subarray(0, metadataEnd(metadata)), CLOSE]);
    },
  };
}

const WATCH_EVENT = { type: 1, object: 2 } as const;
const RAW_EXTENSION_RAW = 1;
const LENGTH_BYTES = 4;

/** Encodes a frame: four bytes of length, then a `WatchEvent` whose object is a complete document. */
function watchFrame(type: string, object: Buffer): Buffer {
  const batch = new Batch();
  field(batch, WATCH_EVENT.type, Buffer.from(type));
  const extension = new Batch();
  field(extension, RAW_EXTENSION_RAW, object);
  field(batch, WATCH_EVENT.object, extension.take());
  const event = batch.take();
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}

function field(batch: Batch, number: number, bytes: Buffer): void {
  batch.varint(number * 8 + 2);
  batch.varint(bytes.length);
  batch.bytes(bytes);
}

/** Encodes a list as one document. Its length is at the beginning, so all items must be encoded first. */
async function* listBatches(encoded: Encoded, metadata: ListMeta, items: readonly Buffer[]): Batches {
  const { listKind, apiVersion, listType } = encoded;
  const meta = listType.byName.get('metadata');
  const item = listType.byName.get('items');
  if (meta?.message === undefined || item === undefined) throw new Error(`${listType.name} is no list`);
  const metaField = new Batch();
  field(metaField, meta.number, encodeProtobuf(meta.message, metadata));
  const metaBytes = metaField.take();
  const bytes = items.reduce(
    (sum, each) => sum + 1 + varintBytes(each.length) + each.length,
    metaBytes.length,
  );
  const { head, tail } = envelopeAround({ kind: listKind, apiVersion }, bytes);
  const batch = new Batch();
  const slices = new Slices();
  batch.bytes(head);
  if (meta.number < item.number) batch.bytes(metaBytes);
  for (const each of items) {
    field(batch, item.number, each);
    if (batch.isFull) yield batch.lend();
    if (slices.due()) await slices.pause();
  }
  if (meta.number > item.number) batch.bytes(metaBytes);
  batch.bytes(tail);
  return batch.take();
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value >>> 7; rest !== 0; rest >>>= 7) bytes += 1;
  return bytes;
}
