import type { Endpoint } from '../registry/resource';
import type { JsonShape } from './object-encoder';
import { versionedBytes } from './source';

const OPEN_BRACE = 0x7b;

/** Shows whole objects. Items of a typed list have neither kind nor apiVersion, as in Go. */
export function plainShape(endpoint: Endpoint): JsonShape {
  const { row, apiVersion, custom } = endpoint;
  const typeMeta = `"kind":${JSON.stringify(row.kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
  const listTypeMeta = `"kind":${JSON.stringify(row.listKind)},"apiVersion":${JSON.stringify(apiVersion)},`;
  const head = Buffer.from(`{${typeMeta}`);
  // Items of a custom resource list have no Go type, so each carries its kind.
  const itemHead = endpoint.type.open ? head : undefined;
  return {
    id: custom === undefined ? `${apiVersion} ${row.kind}` : `${apiVersion} ${row.kind} ${custom.id}`,
    object: (source) => [head, versionedBytes(endpoint, source)],
    inFrame: (source) => [head, versionedBytes(endpoint, source)],
    bookmark: (metadata) => [head, Buffer.from(`"metadata":${JSON.stringify(metadata)}}`)],
    listHead: (metadata) => {
      // As upstream’s unstructured lists, which always have `continue`.
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
