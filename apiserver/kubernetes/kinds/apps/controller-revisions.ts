import { parseGroupVersion } from '../../../../shared/api/resources';
import type { ControllerRevision } from '../../../../shared/api/types/apps-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, required } from '../../../../shared/errors/field-error';
import { goStruct } from '../../../../shared/errors/go-values';
import { isInForce } from '../../../../shared/api/changes';
import { deepEqual, isJsonObject } from '../../../../shared/object/clone';
import { stringifyExact } from '../../../../shared/object/exact-text';
import type { Strategy } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { NONE } from '../columns/format';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { nonNegative } from '../rules/primitives';

/** A ControllerRevision: a number and what it remembers, which stays. */
const controllerRevisionRules: Pick<
  Strategy<ControllerRevision>,
  'validate' | 'validateNew' | 'validateUpdate'
> = {
  validateNew: ({ data }) =>
    !isInForce('objectsInRevisions')
      ? []
      : data === undefined || data === null || isJsonObject(data)
        ? missingData(data)
        : [required('data', 'data must be a valid JSON object')],
  validate: ({ data, revision }) => [
    ...(isInForce('objectsInRevisions') ? [] : missingData(data)),
    ...nonNegative(revision, 'revision'),
  ],
  validateUpdate: (next, previous) =>
    deepEqual(next.data, previous.data) ? [] : [invalid('data', dataInGo(next.data), 'field is immutable')],
};

function missingData(data: unknown): FieldError[] {
  return data === undefined || data === null ? [required('data', 'data is mandatory')] : [];
}

/** Longer data is shown as it is: each of its bytes would take six. */
const DATA_CHARS_MAX = 16 * 1024;

/** What a revision remembers, as refusals show it: the bytes of its JSON. */
function dataInGo(data: unknown): unknown {
  if (data === undefined || data === null) return data;
  const json = stringifyExact(data);
  if (json.length > DATA_CHARS_MAX) return data;
  const bytes = Array.from(Buffer.from(json), (byte) => `0x${byte.toString(16)}`);
  return goStruct('runtime.Unknown', {
    TypeMeta: 'runtime.TypeMeta{APIVersion:"", Kind:""}',
    Raw: `[]uint8{${bytes.join(', ')}}`,
    ContentEncoding: '""',
    ContentType: '"application/json"',
  });
}

const controllerRevisionTable = tableOf<ControllerRevision>([
  NAME,
  { name: 'Controller', cell: controllerOf },
  { name: 'Revision', cell: ({ revision }) => revision },
  AGE,
]);

/** `statefulset.apps/web`. */
function controllerOf({ metadata }: ControllerRevision): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return NONE;
  const { group } = parseGroupVersion(owner.apiVersion);
  const kind = group === '' ? owner.kind : `${owner.kind}.${group}`;
  return `${kind.toLowerCase()}/${owner.name}`;
}

export const controllerRevisions: Kind<ControllerRevision> = {
  strategy: controllerRevisionRules,
  table: controllerRevisionTable,
};
