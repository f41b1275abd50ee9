import type { ListMeta } from '../../shared/meta/object';
import { MEDIA_TYPE } from '../../shared/names';
import { decodeJson } from '../../shared/schema/decode';
import { Batch, bodyOf } from './batch';
import { jsonEncoder } from './json-encoder';
import type { JsonShape, ObjectEncoder } from './object-encoder';
import type { Source } from './source';
import { yamlOf } from './yaml';

/** YAML takes ten times as long to write as JSON, so that fewer elements make a batch. */
const YAML_BATCH_BYTES = 64 * 1024;

/** Objects as YAML, made from their JSON. There are no frames in YAML: nothing tells where one ends. */
export function yamlEncoder(shape: JsonShape): ObjectEncoder {
  const json = jsonEncoder(shape, { pretty: false });
  return {
    ...json,
    id: `yaml ${shape.id}`,
    contentType: MEDIA_TYPE.yaml,
    object: (source) => Buffer.from(yamlOf(decodeJson(json.object(source)))),
    list: async (metadata, sources) => Promise.resolve(bodyOf(yamlListBatches(shape, metadata, sources))),
  };
}

/** The keys in order, with the elements in the place of their list. */
function* yamlListBatches(
  shape: JsonShape,
  metadata: ListMeta,
  sources: readonly Source[],
): Generator<Buffer> {
  const document = decodeJson(Buffer.from(`${shape.listHead(metadata)}]}`)) as Record<string, unknown>;
  const listName = Object.keys(document).at(-1) ?? '';
  const batch = new Batch();
  for (const key of Object.keys(document).sort()) {
    if (key !== listName || sources.length === 0) {
      batch.text(yamlOf({ [key]: document[key] }));
      continue;
    }
    batch.text(`${key}:\n`);
    for (const source of sources) {
      batch.text(yamlOf([elementOf(shape, source)]));
      if (batch.length >= YAML_BATCH_BYTES) yield batch.take();
    }
  }
  yield batch.take();
}

function elementOf(shape: JsonShape, source: Source): unknown {
  const element = new Batch();
  shape.element(element, source);
  return decodeJson(element.take());
}
