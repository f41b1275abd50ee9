import { MEDIA_TYPE } from '../../../shared/names';
import { decodeJson } from '../../../shared/schema/decode';
import { Slices } from '../../../shared/concurrency/slices';
import type { Batches } from './batch';
import { Batch, bodyOf } from './batch';
import type { ListParts } from './json-encoder';
import { jsonEncoder } from './json-encoder';
import type { FormatEncoder, JsonShape } from './object-encoder';
import type { Source } from './source';
import { yamlOf } from './yaml';

/** Encodes objects as YAML, from their JSON. YAML has no watch frames: nothing marks where one ends. */
export function yamlEncoder(shape: JsonShape): FormatEncoder {
  const json = jsonEncoder(shape, { pretty: false });
  return {
    ...json,
    id: `yaml ${shape.id}`,
    contentType: MEDIA_TYPE.yaml,
    object: (source) => Buffer.from(yamlOf(decodeJson(json.object(source)))),
    element: (source) => Buffer.from(yamlElement(shape, source)),
    list: async (metadata, sources, elsewhere) =>
      bodyOf(yamlListBatches(shape, { metadata, sources, elsewhere })),
  };
}

/** Encodes a list with sorted keys. */
async function* yamlListBatches(shape: JsonShape, { metadata, sources, elsewhere }: ListParts): Batches {
  const document = decodeJson(Buffer.from(`${shape.listHead(metadata)}]}`)) as Record<string, unknown>;
  const listName = Object.keys(document).at(-1) ?? '';
  const batch = new Batch();
  const slices = new Slices();
  for (const key of Object.keys(document).sort()) {
    if (key !== listName || sources.length === 0) {
      const isNull = key === listName && shape.isNullWhenEmpty === true;
      batch.text(yamlOf({ [key]: isNull ? null : document[key] }));
      continue;
    }
    batch.text(`${key}:\n`);
    for (const source of (await shape.inOrder?.(sources)) ?? sources) {
      const made = elsewhere?.(source);
      if (made === undefined) batch.text(yamlElement(shape, source));
      else batch.bytes(await made);
      if (batch.isFull) yield batch.lend();
      if (slices.due()) await slices.pause();
    }
  }
  return batch.take();
}

function yamlElement(shape: JsonShape, source: Source): string {
  return yamlOf([elementOf(shape, source)]);
}

function elementOf(shape: JsonShape, source: Source): unknown {
  const element = new Batch();
  shape.element(element, source);
  return decodeJson(element.take());
}
