import { array, nat, record } from 'fast-check';
import type { Arbitrary } from 'fast-check';
import type { InProcessApi } from '../../../apiserver/testing/in-process-api';
import { startInProcessApi } from '../../../apiserver/testing/in-process-api';
import { ALL_KINDS, STORED_ROWS } from '../../../apiserver/testing/stored-rows';
import type { Edit } from '../edited-object';

/** How many objects each test makes. */
export const RUNS = Number(process.env['ORCH_FIDELITY_RUNS'] ?? '300');

const { ORCH_FIDELITY_SEED: SEED = '1', ORCH_FIDELITY_PATH: PATH } = process.env;

/**
 * What `assert` of fast-check is told. The seed is always the same one unless `ORCH_FIDELITY_SEED` names another: what a run finds must not hang
 * on chance. A failure names its path, which `ORCH_FIDELITY_PATH` replays.
 */
export const RUN_OPTIONS = {
  numRuns: RUNS,
  seed: Number(SEED),
  ...(PATH === undefined ? {} : { path: PATH }),
};

/** Kinds whose objects can be made at random: neither namespaces, which others live in, nor definitions, which change what is served. */
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

/** A server of all kinds, whose answers are never server errors. */
export interface RandomServer {
  readonly api: InProcessApi;
  /** Fails when the answer is a server error. */
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

/** Updates of a Node validate its dynamic configuration, which its creation does not: so does v1.21. */
export function isKeptOnlyByCreation(kind: string, { spec, status }: Answered['json']): boolean {
  return kind === 'Node' && ('configSource' in Object(spec) || 'config' in Object(status));
}
