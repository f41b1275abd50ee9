import { StatusError, forbidden } from '../../../shared/errors/status-error';
import type { ApiObject } from '../../../shared/object/object';
import type { AdmissionMetrics, Decision } from './admission-metrics';
import { AdmissionMetrics as Metrics } from './admission-metrics';
import { createAdmission } from './chain';
import type { Reading } from '../cluster/cluster-reader';
import type { AdmissionPlugin, NamedPlugin } from './plugin';
import { writesOf } from './plugin';
import { PODS } from '../cluster/resources';
import { attributesOf, clusterOf } from './testing/plugin-bench';

const { signal } = new AbortController();
const object: ApiObject = { metadata: { name: 'p' } };
const creation = attributesOf('v1/pods', { object });

/** A reading that knows the pod only after `freshen`. */
function staleReading(isConfirmed = true): Reading & { readonly freshened: () => number } {
  const cluster = clusterOf([], [[PODS, { metadata: { name: 'other' } }]]);
  let hasRead = false;
  return {
    ...cluster,
    get: (...asked) => {
      hasRead = true;
      return cluster.get(...asked);
    },
    isStale: () => hasRead && cluster.freshened() === 0,
    isOutdated: () => !isConfirmed && hasRead && cluster.freshened() === 0,
  };
}

function admissionOf(
  plugins: readonly NamedPlugin[],
  metrics: AdmissionMetrics = new Metrics(),
  isConfirmed = true,
) {
  const readings: ReturnType<typeof staleReading>[] = [];
  const admission = createAdmission({
    plugins,
    metrics,
    newReading: () => {
      const reading = staleReading(isConfirmed);
      readings.push(reading);
      return reading;
    },
  });
  return { admission, readings };
}

/** Adds its name to an annotation and records what it saw. */
function noting(name: string, seen: string[], more: Partial<AdmissionPlugin> = {}): NamedPlugin {
  return {
    name,
    plugin: {
      concerns: writesOf(PODS, ['CREATE']),
      mutate: ({ object: given }) => {
        seen.push(`${name} mutates`);
        return given && { ...given, [name]: Object.keys(given).length };
      },
      validate: () => {
        seen.push(`${name} validates`);
      },
      ...more,
    },
  };
}

test('each plugin sees the result of the previous one', async () => {
  const seen: string[] = [];
  const { admission } = admissionOf([noting('a', seen), noting('b', seen)]);
  const mutated = await admission.mutate(creation, signal);
  expect(mutated).toEqual({ metadata: { name: 'p' }, a: 1, b: 2 });
  await admission.validate({ ...creation, object: mutated }, signal);
  expect(seen).toEqual(['a mutates', 'b mutates', 'a validates', 'b validates']);
});

test.each([
  ['of another operation', { ...creation, operation: 'UPDATE' as const }],
  ['of another resource', attributesOf('v1/nodes', { object })],
  ['of a subresource', { ...creation, write: { ...creation.write, subresource: 'status' } }],
])('a plugin is skipped for a write %s', async (_what, attributes) => {
  const seen: string[] = [];
  const { admission, readings } = admissionOf([noting('a', seen)]);
  expect(await admission.mutate(attributes, signal)).toBe(object);
  await admission.validate(attributes, signal);
  expect(seen).toEqual([]);
  expect(readings).toEqual([]);
});

test('a refusal that used cached objects is decided again on fresh objects', async () => {
  const refusesWithoutOther = noting('a', [], {
    mutate: (attributes, cluster) => {
      if (cluster.get(PODS, 'other') === undefined) throw forbidden(PODS, 'p', 'the other one is missing');
      return attributes.object;
    },
  });
  const { admission, readings } = admissionOf([refusesWithoutOther]);
  expect(await admission.mutate(creation, signal)).toBe(object);
  expect(readings.map((reading) => reading.freshened())).toEqual([1]);
});

test('an admission on a cache that may have stalled is decided again on fresh objects', async () => {
  const refusesWithOther = noting('a', [], {
    mutate: (attributes, cluster) => {
      if (cluster.get(PODS, 'other') !== undefined) throw forbidden(PODS, 'p', 'the other one is there');
      return attributes.object;
    },
  });
  expect(await admissionOf([refusesWithOther]).admission.mutate(creation, signal)).toBe(object);
  const { admission, readings } = admissionOf([refusesWithOther], new Metrics(), false);
  await expect(admission.mutate(creation, signal)).rejects.toThrow('the other one is there');
  expect(readings.map((reading) => reading.freshened())).toEqual([1]);
});

test('a refusal that used only the object itself needs no fresh read', async () => {
  const refuses = noting('a', [], {
    mutate: () => {
      throw forbidden(PODS, 'p', 'never');
    },
  });
  const { admission, readings } = admissionOf([refuses]);
  await expect(admission.mutate(creation, signal)).rejects.toThrow('never');
  expect(readings.map((reading) => reading.freshened())).toEqual([0]);
});

test('an internal error is no refusal and is not retried', async () => {
  let tries = 0;
  const broken = noting('a', [], {
    mutate: (_attributes, cluster) => {
      tries += 1;
      cluster.get(PODS, 'other');
      throw new TypeError('a defect');
    },
  });
  const { admission } = admissionOf([broken]);
  await expect(admission.mutate(creation, signal)).rejects.toThrow(TypeError);
  expect(tries).toBe(1);
});

test('the first refusal ends the phase, and the metrics name its plugin', async () => {
  const seen: string[] = [];
  const refuses = noting('b', seen, {
    validate: () => {
      throw new StatusError('Forbidden', 'no');
    },
  });
  const metrics = new Metrics();
  const { admission } = admissionOf([noting('a', seen), refuses, noting('c', seen)], metrics);
  await expect(admission.validate(creation, signal)).rejects.toThrow('no');
  expect(seen).toEqual(['a validates']);
  const counted = [...metrics.plugins(), ...metrics.phases()].map(({ labels, durations }) => [
    labels,
    durations.count,
  ]);
  const decision = (rejected: boolean): Record<keyof Decision, string> => ({
    type: 'validate',
    operation: 'CREATE',
    rejected: String(rejected),
  });
  expect(counted).toEqual([
    [{ name: 'a', ...decision(false) }, 1],
    [{ name: 'b', ...decision(true) }, 1],
    [decision(true), 1],
  ]);
});

test('if a plugin requests reinvocation, all plugins mutate the object once more, and not a third time', async () => {
  const seen: string[] = [];
  const wanting: NamedPlugin = {
    name: 'wanting',
    plugin: {
      concerns: () => true,
      mutate: ({ object: given }, _cluster, _signal, reinvocation) => {
        seen.push(`wanting in pass ${reinvocation?.isSecond === true ? '2' : '1'}`);
        if (reinvocation !== undefined) reinvocation.wantsSecond = true;
        return given;
      },
    },
  };
  const { admission } = admissionOf([noting('first', seen), wanting]);
  const mutated = await admission.mutate(creation, signal);
  expect(seen).toEqual(['first mutates', 'wanting in pass 1', 'first mutates', 'wanting in pass 2']);
  expect(mutated).toMatchObject({ first: 2 });
});

test('a resource redefined under the same name is matched again', async () => {
  const seen: string[] = [];
  const inNamespaces = noting('a', seen, { concerns: ({ namespaced }) => namespaced });
  const { admission } = admissionOf([inNamespaces]);
  const { write } = creation;
  const { endpoint } = write;
  const ofCluster = { ...endpoint, row: { ...endpoint.row, namespaced: false } };
  await admission.mutate({ ...creation, write: { ...write, endpoint: ofCluster } }, signal);
  expect(seen).toEqual([]);
  await admission.mutate(creation, signal);
  expect(seen).toEqual(['a mutates']);
});
