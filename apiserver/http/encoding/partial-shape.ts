import { apiVersionOf } from '../../../shared/object/object';
import { GROUP } from '../../../shared/names';
import type { Shape } from './negotiation';
import type { JsonShape } from './object-encoder';
import { metadataEnd } from './source';

/** Only the metadata of objects, cut out of their bytes without parsing. */
export function partialShape({ version }: Shape): JsonShape {
  const apiVersion = apiVersionOf({ group: GROUP.meta, version });
  const head = Buffer.from(`{"kind":"PartialObjectMetadata","apiVersion":${JSON.stringify(apiVersion)},`);
  const listHead = `{"kind":"PartialObjectMetadataList","apiVersion":${JSON.stringify(apiVersion)},"metadata":`;
  const object: JsonShape['object'] = (source) => [
    head,
    source.bytes.subarray(0, metadataEnd(source)),
    CLOSE,
  ];
  return {
    id: `${apiVersion} PartialObjectMetadata`,
    object,
    inFrame: object,
    bookmark: (metadata) => [head, Buffer.from(`"metadata":${JSON.stringify(metadata)}}`)],
    listHead: (metadata) => `${listHead}${JSON.stringify(metadata)},"items":[`,
    element: (batch, source) => {
      batch.bytes(head);
      batch.bytes(source.bytes, metadataEnd(source));
      batch.bytes(CLOSE);
    },
    stream: (frames) => frames,
  };
}

const CLOSE = Buffer.from('}');
