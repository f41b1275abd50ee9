import { array, nat, record } from 'fast-check';
import type { Arbitrary } from 'fast-check';
import type { InProcessApi } from '../../../apiserver/testing/in-process-api';
import { startInProcessApi } from '../../../apiserver/testing/in-process-api';
import { ALL_KINDS, STORED_ROWS } from '../../../apiserver/testing/stored-rows';
import type { Edit } from '../edited-object';

/** The number of objects of each test. */
export const RUNS = Number(process.env['ORCH_FIDELITY_RUNS'] ?? '300');

const { ORCH_FIDELITY_SEED: SEED = '1', ORCH_FIDELITY_PATH: PATH } = process.env;

/**
 * Options of fast-check's `assert`. The seed is fixed unless `ORCH_FIDELITY_SEED` sets it, so that runs are repeatable. A failure prints its path,
 * which `ORCH_FIDELITY_PATH` replays.
 */
export const RUN_OPTIONS = {
  numRuns: RUNS,
  seed: Number(SEED),
  ...(PATH === undefined ? {} : { path: PATH }),
};

/** Kinds for random objects: neither namespaces, which contain the others, nor definitions, which change the served API. */
export const RANDOM_ROWS = STORED_ROWS.filter(
  ({ resource }) => resource !== 'namespaces' && resource !== 'customresourcedefinitions',
);

export const edit: Arbitrary<Edit> = record({
  steps: array(nat(60), { minLength: 1, maxLength: 6 }),
  value: nat(60),
});
export const edits: Arbitrary<Edit[]> = array(edit, { maxLength: 4 });

export interface Answered {
  readonly code: number;
  readonly json: {
    readonly metadata: { readonly name: string } & Readonly<Record<string, unknown>>;
  } & Readonly<Record<string, unknown>>;
}

/** A server with all kinds, whose `call` fails on server errors. */
export interface RandomServer {
  readonly api: InProcessApi;
  /** Fails on a server error. */
  readonly call: (method: string, url: string, body?: unknown, type?: string) => Promise<Answered>;
  /** Deletes an object, with finalizers and grace periods or without. */
  readonly remove: (url: string) => Promise<void>;
}

/** The caller closes `api` in the end. */
export async function startRandomServer(): Promise<RandomServer> {
  const api = await startInProcessApi(undefined, ALL_KINDS);
  async function call(method: string, url: string, body?: unknown, type?: string): Promise<Answered> {
    const options = {
      ...(body === undefined ? {} : { body }),
      ...(type === undefined ? {} : { headers: { 'content-type': type } }),
    };
    const { code, json, text } = await api.call(method, url, options);
    if (code >= 500)
      throw new Error(`${method} ${url} answered ${String(code)}: ${text}\n${JSON.stringify(body)}`);
    return { code, json: json as Answered['json'] };
  }
  return {
    api,
    call,
    remove: async (url) => {
      await call('DELETE', `${url}?gracePeriodSeconds=0`);
      await call('PATCH', url, { metadata: { finalizers: null } });
    },
  };
}

/** As in v1.21, an update of a Node validates its dynamic configuration, and a create does not. */
export function isKeptOnlyByCreation(kind: string, { spec, status }: Answered['json']): boolean {
  return kind === 'Node' && ('configSource' in Object(spec) || 'config' in Object(status));
}
