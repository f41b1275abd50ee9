import { MEDIA_TYPE } from '../../../shared/names';
import type { Endpoint } from '../../engine/registry/resource';
import { customMessage } from './names';
import type { Operation } from './operations';

/** Media types that need a compiled schema: Protobuf and strategic merge patch. */
const UNKNOWN_TYPES: ReadonlySet<string> = new Set([MEDIA_TYPE.protobuf, MEDIA_TYPE.strategicMergePatch]);

const BODY_TYPES = [MEDIA_TYPE.json, MEDIA_TYPE.yaml];

/** Returns the operations of a custom resource, from those of a built-in kind in its place. */
export function customOperations({ row }: Endpoint, operations: readonly Operation[]): readonly Operation[] {
  const { group, version, kind } = row;
  const messages = new Map([
    [row.schema, customMessage(row, kind)],
    [`${row.schema}List`, customMessage(row, row.listKind)],
  ]);
  const messageOf = (message: string): string => messages.get(message) ?? message;
  return operations
    .filter(({ action }) => action !== 'watch' && action !== 'watchlist')
    .map(({ body, ...operation }) => ({
      ...operation,
      kind: { group, kind, version },
      consumes: operation.consumes.includes('*/*')
        ? BODY_TYPES
        : operation.consumes.filter((each) => !UNKNOWN_TYPES.has(each)),
      produces: BODY_TYPES,
      answer: operation.answer === undefined ? undefined : messageOf(operation.answer),
      ...(body === undefined ? {} : { body: { ...body, message: messageOf(body.message) } }),
    }));
}
