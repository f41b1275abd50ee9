import type { Endpoint } from '../registry/resource';
import type { JsonShape } from './object-encoder';
import { versionedBytes } from './source';

/** Objects as they are. Items of a typed list carry neither kind nor apiVersion, as the Go server writes them. */
export function plainShape(endpoint: Endpoint): JsonShape {
  const { row, apiVersion } = endpoint;
  const typeMeta = `"kind":${JSON.stringify(row.kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
  const listTypeMeta = `"kind":${JSON.stringify(row.listKind)},"apiVersion":${JSON.stringify(apiVersion)},`;
  const head = Buffer.from(`{${typeMeta}`);
  // Custom resources have no type that tells what the items of their lists are.
  const itemHead = Buffer.from(endpoint.type.open ? `{${typeMeta}` : '{');
  return {
    id: `${apiVersion} ${row.kind}`,
    object: (source) => [head, versionedBytes(endpoint, source)],
    inFrame: (source) => [head, versionedBytes(endpoint, source)],
    bookmark: (metadata) => [head, Buffer.from(`"metadata":${JSON.stringify(metadata)}}`)],
    listHead: (metadata) => `{${listTypeMeta}"metadata":${JSON.stringify(metadata)},"items":[`,
    element: (batch, source) => {
      batch.bytes(itemHead);
      batch.bytes(versionedBytes(endpoint, source));
    },
    stream: (frames) => frames,
  };
}
