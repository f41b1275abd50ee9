import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { parseYaml } from '../apiserver/engine/encoding/yaml';
import type { Client } from '../shared/client/client';
import { sleep } from '../shared/concurrency/abort';
import { MEDIA_TYPE } from '../shared/names';
import type { ApiObject } from '../shared/object/object';
import type { KubernetesObject } from './types';

const FIELD_MANAGER = 'orch-testing';
const MANIFEST = /\.(?:ya?ml|json)$/u;
const DOCUMENT_START = /^---(?:[ \t].*)?$/mu;

/** Reads objects, files and folders in their order; files of a folder by name. Throws an Error that names an unusable file. */
export function readManifests(sources: readonly (string | KubernetesObject)[]): readonly KubernetesObject[] {
  return sources.flatMap((source) =>
    typeof source === 'string' ? filesOf(source).flatMap((file) => objectsIn(file)) : [source],
  );
}

function filesOf(source: string): readonly string[] {
  if (!statSync(source).isDirectory()) return [source];
  return readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => MANIFEST.test(name))
    .sort()
    .map((name) => path.join(source, name));
}

function objectsIn(file: string): readonly KubernetesObject[] {
  const documents = readFileSync(file, 'utf8').split(DOCUMENT_START);
  try {
    return documents.flatMap((text) => {
      const object = parseYaml(Buffer.from(text)) as
        (KubernetesObject & { items?: KubernetesObject[] }) | null;
      if (object === null || object === undefined) return [];
      return object.kind === 'List' && Array.isArray(object.items) ? object.items : [object];
    });
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** Creates or updates objects in their order by server-side apply. Waits until a definition of a custom resource is established. */
export async function applyManifests(
  client: Client,
  objects: readonly KubernetesObject[],
  signal: AbortSignal,
): Promise<void> {
  const resources = new Map<string, ReadonlyMap<string, ServedKind>>();
  for (const object of objects) {
    const { apiVersion, kind } = object;
    const known = resources.get(apiVersion) ?? (await kindsOf(client, apiVersion, signal));
    resources.set(apiVersion, known);
    const served = known.get(kind);
    if (served === undefined) throw new Error(`${apiVersion} has no kind ${kind}`);
    const { name, namespace = 'default' } = object.metadata ?? {};
    if (name === undefined) throw new Error(`an object of kind ${kind} has no metadata.name`);
    const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const place = served.namespaced ? `/namespaces/${encodeURIComponent(namespace)}` : '';
    const url = `${group}${place}/${served.name}/${encodeURIComponent(name)}`;
    const query = `?fieldManager=${FIELD_MANAGER}&force=true`;
    await sendApply(client, url + query, object, signal);
    if (kind !== 'CustomResourceDefinition') continue;
    await untilEstablished(client, url, signal);
    resources.clear();
  }
}

async function sendApply(client: Client, target: string, object: object, signal: AbortSignal): Promise<void> {
  const body = JSON.stringify(object);
  const answer = await client.request({
    method: 'PATCH',
    path: target,
    body,
    contentType: MEDIA_TYPE.applyPatch,
    signal,
  });
  if (answer.code >= 300) throw new Error(`PATCH ${target} failed: ${answer.body.toString('utf8')}`);
}

interface ServedKind {
  readonly name: string;
  readonly namespaced: boolean;
}

async function kindsOf(
  client: Client,
  apiVersion: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ServedKind>> {
  const target = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const { resources } = (await client.getJson(target, { signal })) as {
    readonly resources: readonly (ServedKind & { readonly kind: string })[];
  };
  return new Map(resources.filter(({ name }) => !name.includes('/')).map((each) => [each.kind, each]));
}

const ESTABLISHED_POLL_MS = 2;

async function untilEstablished(client: Client, url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    const { status } = (await client.getJson(url, { signal })) as ApiObject & {
      readonly status?: {
        readonly conditions?: readonly { readonly type: string; readonly status: string }[];
      };
    };
    const found = (type: string, value: string): boolean =>
      status?.conditions?.some((each) => each.type === type && each.status === value) ?? false;
    if (found('Established', 'True')) return;
    if (found('NonStructuralSchema', 'True') || found('NamesAccepted', 'False'))
      throw new Error(`the definition cannot be served: ${JSON.stringify(status?.conditions)}`);
    await sleep(ESTABLISHED_POLL_MS, signal);
  }
}
