import { benchDeployment, richPodSpec } from './bench-deployment';
import { benchPod } from './bench-pod';
import type { WriteKind } from './messages';
import { CHANGED_OBJECTS } from './messages';

/** The request of one write. */
export interface WriteCall {
  readonly method: string;
  /** Appended to the path of the collection. */
  readonly place: string;
  readonly contentType: string;
  readonly body: Buffer;
}

/** The write number `index` of a kind on objects whose names begin with `prefix`. All writes of one object differ. */
export function writeCall(kind: WriteKind, prefix: string, index: number): WriteCall {
  return CALLS[kind](prefix, index);
}

const JSON_TYPE = 'application/json';

const CALLS: Readonly<Record<WriteKind, (prefix: string, index: number) => WriteCall>> = {
  create: (prefix, index) => ({
    method: 'POST',
    place: '',
    contentType: JSON_TYPE,
    body: configMap(nameOf(prefix, index), index),
  }),
  createPod: (prefix, index) => ({
    method: 'POST',
    place: '',
    contentType: JSON_TYPE,
    body: toBytes(benchPod(index, nameOf(prefix, index))),
  }),
  createSecret: (prefix, index) => ({
    method: 'POST',
    place: '',
    contentType: JSON_TYPE,
    body: secret(nameOf(prefix, index), index),
  }),
  updateSecret: (prefix, index) => {
    const name = changedName(prefix, index);
    return { method: 'PUT', place: `/${name}`, contentType: JSON_TYPE, body: secret(name, index) };
  },
  dryRunPod: (prefix, index) => {
    const name = nameOf(prefix, index);
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: richPodSpec(index) };
    return { method: 'POST', place: '?dryRun=All', contentType: JSON_TYPE, body: toBytes(pod) };
  },
  applyDeployment: (prefix, index) => {
    const name = changedName(prefix, index);
    return {
      method: 'PATCH',
      place: `/${name}?fieldManager=bench`,
      contentType: 'application/apply-patch+yaml',
      body: toBytes(benchDeployment(name, index)),
    };
  },
  updateDeployment: (prefix, index) => {
    const name = changedName(prefix, index);
    const body = toBytes(benchDeployment(name, index));
    return { method: 'PUT', place: `/${name}`, contentType: JSON_TYPE, body };
  },
  update: (prefix, index) => {
    const name = changedName(prefix, index);
    return { method: 'PUT', place: `/${name}`, contentType: JSON_TYPE, body: configMap(name, index) };
  },
  patch: (prefix, index) => ({
    method: 'PATCH',
    place: `/${changedName(prefix, index)}`,
    contentType: 'application/merge-patch+json',
    body: toBytes({ data: { count: String(index) } }),
  }),
  patchPodStatus: (prefix, index) => ({
    method: 'PATCH',
    place: `/${changedName(prefix, index)}/status`,
    contentType: 'application/strategic-merge-patch+json',
    body: toBytes({
      status: { conditions: [{ type: 'Ready', status: 'True', message: `look ${String(index)}` }] },
    }),
  }),
  apply: (prefix, index) => {
    const name = changedName(prefix, index);
    return {
      method: 'PATCH',
      place: `/${name}?fieldManager=bench`,
      contentType: 'application/apply-patch+yaml',
      body: configMap(name, index),
    };
  },
  delete: (prefix, index) => ({
    method: 'DELETE',
    place: `/${nameOf(prefix, index)}`,
    contentType: JSON_TYPE,
    body: Buffer.alloc(0),
  }),
};

function nameOf(prefix: string, index: number): string {
  return `${prefix}-${String(index)}`;
}

function changedName(prefix: string, index: number): string {
  return nameOf(prefix, index % CHANGED_OBJECTS);
}

function configMap(name: string, count: number): Buffer {
  return toBytes({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data: { text: 'x'.repeat(1_000), count: String(count) },
  });
}

function secret(name: string, count: number): Buffer {
  return toBytes({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name },
    stringData: { text: 'x'.repeat(750), count: String(count) },
  });
}

function toBytes(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
