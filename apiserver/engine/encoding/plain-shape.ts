import type { Endpoint } from '../registry/resource';
import type { JsonShape } from './object-encoder';
import { versionedBytes } from './source';

const OPEN_BRACE = 0x7b;

/** Objects as they are. Items of a typed list carry neither kind nor apiVersion, as the Go server writes them. */
export function plainShape(endpoint: Endpoint): JsonShape {
  const { row, apiVersion, custom } = endpoint;
  const typeMeta = `"kind":${JSON.stringify(row.kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
  const listTypeMeta = `"kind":${JSON.stringify(row.listKind)},"apiVersion":${JSON.stringify(apiVersion)},`;
  const head = Buffer.from(`{${typeMeta}`);
  // Custom resources have no type that tells what the items of their lists are.
  const itemHead = endpoint.type.open ? head : undefined;
  return {
    id: custom === undefined ? `${apiVersion} ${row.kind}` : `${apiVersion} ${row.kind} ${custom.id}`,
    object: (source) => [head, versionedBytes(endpoint, source)],
    inFrame: (source) => [head, versionedBytes(endpoint, source)],
    bookmark: (metadata) => [head, Buffer.from(`"metadata":${JSON.stringify(metadata)}}`)],
    listHead: (metadata) => {
      // As upstream's lists without a type, also those that do not go on.
      const shown = custom === undefined ? metadata : { continue: '', ...metadata };
      return `{${listTypeMeta}"metadata":${JSON.stringify(shown)},"items":[`;
    },
    element: (batch, source) => {
      if (itemHead === undefined) batch.byte(OPEN_BRACE);
      else batch.bytes(itemHead);
      batch.bytes(versionedBytes(endpoint, source));
    },
    isReady: endpoint.conversion === undefined && custom?.changesOnRead !== true,
    stream: (frames) => frames,
  };
}
