import type { ListMeta } from '../../../shared/object/object';
import { MEDIA_TYPE } from '../../../shared/names';
import { decodeJson } from '../../../shared/schema/decode';
import { Slices } from '../../../shared/concurrency/slices';
import type { Batches } from './batch';
import { Batch, bodyOf } from './batch';
import { jsonEncoder } from './json-encoder';
import type { FormatEncoder, JsonShape } from './object-encoder';
import type { Source } from './source';
import { yamlOf } from './yaml';

/** Objects as YAML, made from their JSON. There are no frames in YAML: nothing tells where one ends. */
export function yamlEncoder(shape: JsonShape): FormatEncoder {
  const json = jsonEncoder(shape, { pretty: false });
  return {
    ...json,
    id: `yaml ${shape.id}`,
    contentType: MEDIA_TYPE.yaml,
    object: (source) => Buffer.from(yamlOf(decodeJson(json.object(source)))),
    list: async (metadata, sources) => bodyOf(yamlListBatches(shape, metadata, sources)),
  };
}

/** The keys in order, with the elements in the place of their list. */
async function* yamlListBatches(shape: JsonShape, metadata: ListMeta, sources: readonly Source[]): Batches {
  const document = decodeJson(Buffer.from(`${shape.listHead(metadata)}]}`)) as Record<string, unknown>;
  const listName = Object.keys(document).at(-1) ?? '';
  const batch = new Batch();
  const slices = new Slices();
  for (const key of Object.keys(document).sort()) {
    if (key !== listName || sources.length === 0) {
      batch.text(yamlOf({ [key]: document[key] }));
      continue;
    }
    batch.text(`${key}:\n`);
    for (const source of sources) {
      batch.text(yamlOf([elementOf(shape, source)]));
      if (batch.isFull) yield batch.lend();
      if (slices.due()) await slices.pause();
    }
  }
  return batch.take();
}

function elementOf(shape: JsonShape, source: Source): unknown {
  const element = new Batch();
  shape.element(element, source);
  return decodeJson(element.take());
}
