import { ANNOTATION, MEDIA_TYPE } from '../../../shared/names';
import type { ListMeta } from '../../../shared/object/object';
import { Slices } from '../../../shared/concurrency/slices';
import type { Batches } from './batch';
import { Batch, bodyOf } from './batch';
import type { BookmarkMetadata, OffloadedEncoder, FormatEncoder, JsonShape } from './object-encoder';
import { prettyBody, prettyJson } from './pretty';
import type { Source } from './source';

const COMMA = 0x2c;
const NEWLINE = Buffer.from('\n');
const FRAME_TAIL = Buffer.from('}\n');
const FRAME_HEAD = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
  BOOKMARK: Buffer.from('{"type":"BOOKMARK","object":'),
};

/** Encodes objects as JSON. The cache holds JSON, so nothing is cached here. */
export function jsonEncoder(shape: JsonShape, { pretty }: { readonly pretty: boolean }): FormatEncoder {
  return {
    id: `json ${shape.id}`,
    contentType: MEDIA_TYPE.json,
    streamContentType: MEDIA_TYPE.json,
    object: (source) => {
      const body = Buffer.concat([...shape.object(source), NEWLINE]);
      return pretty ? prettyJson(body) : body;
    },
    element: (source) => {
      const batch = new Batch();
      shape.element(batch, source);
      return batch.take();
    },
    list: async (metadata, sources, elsewhere) => {
      const body = await bodyOf(jsonListBatches(shape, { metadata, sources, elsewhere }));
      return pretty ? prettyBody(body) : body;
    },
    tellsAge: shape.tellsAge === true,
    frame: (type, entry) => Buffer.concat([FRAME_HEAD[type], ...shape.inFrame(entry), FRAME_TAIL]),
    bookmark: (revision, initialEventsEnd) =>
      Buffer.concat([
        FRAME_HEAD.BOOKMARK,
        ...shape.bookmark(bookmarkMetadata(revision, initialEventsEnd)),
        FRAME_TAIL,
      ]),
    error: (status) => jsonLine({ type: 'ERROR', object: status }),
    stream: (frames) => shape.stream(frames),
  };
}

/** The metadata of a bookmark. */
export function bookmarkMetadata(revision: number, initialEventsEnd: boolean): BookmarkMetadata {
  return {
    resourceVersion: String(revision),
    ...(initialEventsEnd ? { annotations: { [ANNOTATION.initialEventsEnd]: 'true' } } : {}),
  };
}

export interface ListParts {
  readonly metadata: ListMeta;
  readonly sources: readonly Source[];
  readonly elsewhere: OffloadedEncoder | undefined;
}

/** A list in batches of about 256 KB. */
async function* jsonListBatches(shape: JsonShape, { metadata, sources, elsewhere }: ListParts): Batches {
  const batch = new Batch();
  const slices = new Slices();
  const head = shape.listHead(metadata);
  if (sources.length === 0 && shape.isNullWhenEmpty === true) {
    batch.text(`${head.slice(0, -1)}null}\n`);
    return batch.take();
  }
  batch.text(head);
  let isFirst = true;
  for (const source of (await shape.inOrder?.(sources)) ?? sources) {
    if (!isFirst) batch.byte(COMMA);
    isFirst = false;
    const made = elsewhere?.(source);
    if (made === undefined) shape.element(batch, source);
    else batch.bytes(await made);
    const { isFull } = batch;
    if (isFull) yield batch.lend();
    // A few ready elements that do not fill a batch take no time.
    if (shape.isReady === true && !isFull ? slices.dueAfterSteps() : slices.due()) await slices.pause();
  }
  batch.text(']}\n');
  return batch.take();
}

/** One JSON document and a newline. */
export function jsonLine(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}
