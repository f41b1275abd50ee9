import { PATIENCE_MS } from '../../../../shared/testing/eventually';
import { LightSignal } from '../../../../shared/concurrency/light-signal';
import type { Backend, StorageErrorCode } from '../backend';
import { StorageError } from '../backend';

/** One opened store that belongs to the suite alone. */
export interface BackendSetup {
  readonly backend: Backend;
  /** The root of the served keys, without a slash at the end: `/registry`. */
  readonly prefix: string;
  teardown(): Promise<void>;
}

/** What the tests of one store share. */
export interface Suite {
  readonly setup: () => Promise<BackendSetup>;
  readonly backend: () => Backend;
  /** A folder below the prefix that no other test uses, with a slash at the end. */
  readonly folder: () => string;
  /** A folder that does not belong to the served keys, with a slash at the end. */
  readonly foreignFolder: () => string;
  /** Aborts when a call of a test takes too long: a signal of the kind that requests have, which not all can be done with. */
  readonly deadline: () => AbortSignal;
}

export const isFullScale = process.env['ORCH_E2E_SCALE'] === 'full';

/** Opens the store before the first test and closes it after the last one. */
export function createSuite(setup: () => Promise<BackendSetup>): Suite {
  let opened: BackendSetup | undefined;
  let folders = 0;
  beforeAll(async () => {
    opened = await setup();
  });
  afterAll(async () => {
    await opened?.teardown();
  });
  const setupOf = (): BackendSetup => {
    if (opened === undefined) throw new Error('the store of the contract suite is not open');
    return opened;
  };
  const nextFolder = (): string => {
    folders += 1;
    return `contract-${String(folders).padStart(4, '0')}/`;
  };
  return {
    setup,
    backend: () => setupOf().backend,
    folder: () => `${setupOf().prefix}/${nextFolder()}`,
    foreignFolder: () => `/elsewhere/${nextFolder()}`,
    deadline: lightDeadline,
  };
}

function lightDeadline(): AbortSignal {
  const signal = new LightSignal();
  setTimeout(
    () => signal.abort(new Error('a call of the contract suite took too long')),
    PATIENCE_MS,
  ).unref();
  return signal;
}

/** A signal of the kind that requests have, that has aborted. */
export function abortedSignal(): AbortSignal {
  const signal = new LightSignal();
  signal.abort(new Error('the caller went away'));
  return signal;
}

/** The error that `promise` ends with, which must be a StorageError with this code. */
export async function storageErrorOf(
  promise: Promise<unknown>,
  code: StorageErrorCode,
): Promise<StorageError> {
  const outcome: unknown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(outcome instanceof StorageError)) {
    throw new Error(`expected a StorageError with code ${code}`, { cause: outcome });
  }
  expect(outcome.code).toBe(code);
  return outcome;
}

export function bytes(text: string): Buffer {
  return Buffer.from(text, 'utf8');
}

/** Creates the record, which must not exist, and tells its revision. */
export async function mustCreate(
  suite: Suite,
  key: string,
  value: Buffer | string,
  ttlSeconds?: number,
): Promise<number> {
  const outcome = await suite
    .backend()
    .create(
      key,
      typeof value === 'string' ? bytes(value) : value,
      ttlSeconds === undefined ? {} : { ttlSeconds },
      suite.deadline(),
    );
  if (!outcome.ok) throw new Error(`${key} exists at revision ${String(outcome.current?.revision)}`);
  return outcome.revision;
}

export async function mustUpdate(
  suite: Suite,
  key: string,
  expected: number,
  value: string,
): Promise<number> {
  const outcome = await suite.backend().update(key, bytes(value), { expected }, suite.deadline());
  if (!outcome.ok) throw new Error(`${key} is at revision ${String(outcome.current?.revision)}`);
  return outcome.revision;
}

export async function mustDelete(suite: Suite, key: string, expected: number): Promise<number> {
  const outcome = await suite.backend().delete(key, expected, suite.deadline());
  if (!outcome.ok) throw new Error(`${key} is at revision ${String(outcome.current?.revision)}`);
  return outcome.revision;
}
