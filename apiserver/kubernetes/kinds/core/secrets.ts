import { isInForce } from '../../../../shared/api/changes';
import type { Secret } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, required, tooLong } from '../../../../shared/errors/field-error';
import { ANNOTATION, SECRET_TYPE } from '../../../../shared/names';
import { jsonSyntaxProblem } from '../../../../shared/schema/json-syntax';
import type { Strategy } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { countOf } from '../columns/format';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { immutable } from '../rules/primitives';
import { CONFIG_BYTES_MAX, configKeys, decodedBytes, immutableFields } from './config-maps';

/** The type says which keys must be there, and never changes. */
const secretRules: Pick<Strategy<Secret>, 'prepareForUpdate' | 'validate' | 'validateUpdate'> = {
  // A client that leaves out the type means the one that is there.
  prepareForUpdate: (next, previous) =>
    next.type === undefined && previous.type !== undefined ? { ...next, type: previous.type } : next,
  validate: (secret) => {
    const { data = {}, type = '' } = secret;
    const bytes = Object.values(data).reduce((sum, value) => sum + decodedBytes(value), 0);
    return [
      ...configKeys(data, 'data'),
      ...(bytes > CONFIG_BYTES_MAX ? [tooLong('data', '', CONFIG_BYTES_MAX)] : []),
      ...(CONTENT_OF_TYPE.get(type)?.(data, secret) ?? []),
    ];
  },
  validateUpdate: (next, previous) => [
    ...immutable(next.type, previous.type, 'type'),
    ...immutableFields(next, previous, ['data']),
  ],
};

/** The path of a key as upstream gives it, where it forgot to fill in a template. */
function strangePath(key: string): string {
  return isInForce('secretKeyPaths') ? `data[${key}]` : `data[%s][${key}]`;
}

type Data = NonNullable<Secret['data']>;
type Content = (data: Data, secret: Secret) => FieldError[];

const CONTENT_OF_TYPE: ReadonlyMap<string, Content> = new Map<string, Content>([
  [SECRET_TYPE.serviceAccountToken, (_data, secret) => namesServiceAccount(secret)],
  [SECRET_TYPE.dockerConfig, (data) => jsonAt(data, '.dockercfg')],
  [SECRET_TYPE.dockerConfigJson, (data) => jsonAt(data, '.dockerconfigjson')],
  [
    SECRET_TYPE.basicAuth,
    (data) =>
      Object.hasOwn(data, 'username') || Object.hasOwn(data, 'password')
        ? []
        : [required(strangePath('username')), required(strangePath('password'))],
  ],
  [
    SECRET_TYPE.sshAuth,
    (data) => ((data['ssh-privatekey'] ?? '') === '' ? [required(strangePath('ssh-privatekey'))] : []),
  ],
  [
    SECRET_TYPE.tls,
    (data) =>
      ['tls.crt', 'tls.key']
        .filter((key) => !Object.hasOwn(data, key))
        .map((key) => required(`data[${key}]`)),
  ],
]);

function namesServiceAccount({ metadata }: Secret): FieldError[] {
  const key = ANNOTATION.serviceAccountName;
  return (metadata.annotations?.[key] ?? '') === '' ? [required(`metadata.annotations[${key}]`)] : [];
}

function jsonAt(data: Data, key: string): FieldError[] {
  const path = `data[${key}]`;
  const encoded = data[key];
  if (encoded === undefined) return [required(path)];
  const problem = problemOf(Buffer.from(encoded ?? '', 'base64'));
  // The value itself is secret and never shown.
  return problem === undefined ? [] : [invalid(path, '<secret contents redacted>', problem)];
}

/** What keeps the bytes from being a JSON object, or null. */
function problemOf(bytes: Buffer): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    return jsonSyntaxProblem(bytes) ?? String(error);
  }
  if (typeof value === 'object' && !Array.isArray(value)) return undefined;
  const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return `json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`;
}

/** A Secret with its `stringData` where it belongs. Text wins over data under the same key; the order of the fields is kept. */
function secretTextAsData(secret: Secret): Secret {
  const { stringData, data, type, ...rest } = secret;
  if (stringData === undefined) return secret;
  const encoded = Object.fromEntries(
    Object.entries(stringData).map(([key, value]) => [key, Buffer.from(value, 'utf8').toString('base64')]),
  );
  const all = { ...data, ...encoded };
  return {
    ...rest,
    ...(Object.keys(all).length === 0 ? {} : { data: all }),
    ...(type === undefined ? {} : { type }),
  };
}

const secretTable = tableOf<Secret>([
  NAME,
  { name: 'Type', cell: ({ type = '' }) => type },
  { name: 'Data', cell: ({ data }) => countOf(data) },
  AGE,
]);

export const secrets: Kind<Secret> = {
  strategy: { selectableFields: { type: '' }, ...secretRules },
  table: secretTable,
  received: secretTextAsData,
};
