import { linkedAbort } from '../../../shared/concurrency/linked-abort';
import { GROUP } from '../../../shared/names';
import { patience } from '../../../shared/testing/eventually';
import type { InProcessApi } from '../in-process-api';
import type { ReadonlyJson } from '../../../shared/object/json';

export const DEFINITIONS_PATH = `/apis/${GROUP.apiextensions}/v1/customresourcedefinitions`;

/** The URL path of the objects of `definitionBody()`, in the namespace of the tests. */
export const GIZMOS_PATH = '/apis/example.com/v1/namespaces/default/gizmos';

export function gizmo(name: string, rest: object = {}): object {
  return { apiVersion: 'example.com/v1', kind: 'Gizmo', metadata: { name }, ...rest };
}

export interface TestVersion {
  readonly name: string;
  readonly served?: boolean;
  readonly storage?: boolean;
  /** By default the schema preserves unknown fields. */
  readonly schema?: ReadonlyJson;
  readonly [field: string]: unknown;
}

/** Builds a definition of the kind `Gizmo` in `example.com`, or of another kind. */
export function definitionBody({
  plural = 'gizmos',
  kind = 'Gizmo',
  group = 'example.com',
  scope = 'Namespaced',
  names = {},
  versions = [{ name: 'v1' }],
  spec = {},
}: {
  readonly plural?: string;
  readonly kind?: string;
  readonly group?: string;
  readonly scope?: 'Namespaced' | 'Cluster';
  readonly names?: ReadonlyJson;
  readonly versions?: readonly TestVersion[];
  readonly spec?: ReadonlyJson;
} = {}): ReadonlyJson & { readonly metadata: { readonly name: string } } {
  return {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { plural, kind, ...names },
      versions: versions.map(({ schema = KEEP_ALL, ...version }, index) => ({
        served: true,
        storage: index === 0,
        ...version,
        schema: { openAPIV3Schema: schema },
      })),
      ...spec,
    },
  };
}

const KEEP_ALL = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** Creates a definition and waits until it is established. */
export async function define(api: InProcessApi, body: ReadonlyJson, version = 'v1'): Promise<void> {
  const { name } = body['metadata'] as { readonly name: string };
  const { code, text } = await api.call('POST', DEFINITIONS_PATH.replace('/v1/', `/${version}/`), { body });
  if (code !== 201) throw new Error(text);
  await untilStatus(api, name, (status) => conditionOf(status, 'Established')?.['status'] === 'True');
}

/** Resolves with the first status that satisfies the check; rejects after a timeout. */
export async function untilStatus(
  api: InProcessApi,
  name: string,
  isRight: (status: ReadonlyJson) => boolean,
): Promise<ReadonlyJson> {
  const stop = linkedAbort(patience());
  let last: unknown;
  try {
    const path = `${DEFINITIONS_PATH}?watch=1&fieldSelector=metadata.name%3D${name}`;
    for await (const { object } of api.watch(path, stop.signal)) {
      last = object['status'];
      if (isRight((last ?? {}) as ReadonlyJson)) return last as ReadonlyJson;
    }
  } finally {
    stop.abort(new Error('it has come'));
  }
  throw new Error(`${name} has the status ${JSON.stringify(last)}`);
}

export function conditionOf(status: ReadonlyJson, type: string): ReadonlyJson | undefined {
  const conditions = (status['conditions'] ?? []) as readonly ReadonlyJson[];
  return conditions.find((each) => each['type'] === type);
}

/** Resolves when a definition is removed. */
export async function untilGone(api: InProcessApi, name: string): Promise<void> {
  const stop = linkedAbort(patience());
  try {
    const from = (await api.call('GET', `${DEFINITIONS_PATH}/${name}`)).json;
    if (from.code === 404) return;
    const path = `${DEFINITIONS_PATH}?watch=1&resourceVersion=${from.metadata.resourceVersion}&fieldSelector=metadata.name%3D${name}`;
    for await (const { type } of api.watch(path, stop.signal)) if (type === 'DELETED') return;
  } finally {
    stop.abort(new Error('it has come'));
  }
  throw new Error(`${name} is still there`);
}
