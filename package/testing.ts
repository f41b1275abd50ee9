import { cacheCode, loadEngine } from './load-engine';
import type { ControlPlane, ControlPlaneOptions, ControlPlaneSnapshot, ServingCertificate } from './types';

export type * from './types';

declare const ORCH_VERSION: string;

/**
 * Starts a control plane in this process, in memory. Resolves when it serves and the definitions of `crds` are established. Rejects with all
 * errors of the options.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const { dialect = 'kubernetes', apiLevel } = options;
  const engine = loadEngine({ dialect, apiLevel });
  const started = await engine.startControlPlane(options, { version: ORCH_VERSION });
  cacheCode();
  return started;
}

/**
 * Makes a certificate for a server of the test, such as one of webhooks, with an authority of its own.
 *
 * ```ts
 * const { cert, key, ca } = makeServingCertificate();
 * const server = https.createServer({ cert, key }, handler); // and in the configuration: caBundle: Buffer.from(ca).toString('base64')
 * ```
 *
 * @param hosts Addresses and DNS names of the server; those of this machine if absent.
 */
export function makeServingCertificate(hosts: readonly string[] = LOCAL_HOSTS): ServingCertificate {
  return loadEngine({ dialect: 'kubernetes', apiLevel: undefined }).makeServingCertificate(hosts);
}

const LOCAL_HOSTS = ['127.0.0.1', '::1', 'localhost'];

/** The hooks of jest, of vitest, or of `node:test`. */
export interface TestHooks {
  /** Of jest and vitest. */
  readonly beforeAll?: (work: () => Promise<void>) => unknown;
  /** Of `node:test`. */
  readonly before?: (work: () => Promise<void>) => unknown;
  /** Before each test. */
  readonly beforeEach: (work: () => Promise<void>) => unknown;
  /** Of jest and vitest. */
  readonly afterAll?: (work: () => Promise<void>) => unknown;
  /** Of `node:test`. */
  readonly after?: (work: () => Promise<void>) => unknown;
}

/**
 * One control plane for the tests of a file: it starts before the first, every test begins with the state of the start and without faults, and
 * it stops after the last. Returns a function that returns it inside of a test.
 *
 * ```ts
 * import * as hooks from 'vitest'; // or from 'node:test', or '@jest/globals'
 * const cluster = useControlPlane(hooks, { crds: ['config/crd'] });
 * ```
 */
export function useControlPlane(hooks: TestHooks, options: ControlPlaneOptions = {}): () => ControlPlane {
  const before = hooks.beforeAll ?? hooks.before;
  const after = hooks.afterAll ?? hooks.after;
  if (before === undefined || after === undefined)
    throw new TypeError('the hooks need beforeAll and afterAll, or before and after');
  let started: { readonly cluster: ControlPlane; readonly beginning: ControlPlaneSnapshot } | undefined;
  before(async () => {
    const cluster = await startControlPlane(options);
    started = { cluster, beginning: cluster.snapshot() };
  });
  hooks.beforeEach(async () => {
    started?.cluster.faults.clear();
    await started?.cluster.restore(started.beginning);
  });
  after(async () => {
    await started?.cluster.stop();
    started = undefined;
  });
  return () => {
    if (started === undefined) throw new Error('the control plane runs only while tests do');
    return started.cluster;
  };
}
