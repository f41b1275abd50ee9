import type { ApiLevel } from '../../../shared/api-level';
import {
  apiLevel,
  formatApiLevel,
  isApiLevelChosen,
  parseApiLevel,
  VERIFIED_LEVELS,
} from '../../../shared/api-level';
import { dialect } from '../../../shared/names';
import type { Backend } from '../../engine/storage/backend';
import { readOrCreate } from './own-record';

/** The store has another API level than this process, and the command line does not choose one. */
export class ApiLevelMismatch extends Error {
  /** The level of the store. */
  readonly level: ApiLevel;

  constructor(level: ApiLevel) {
    super(`the store has the API level ${formatApiLevel(level)}`);
    this.level = level;
  }
}

/** What this process would serve. */
interface Served {
  readonly level: ApiLevel;
  /** False if the level is only the default. */
  readonly isChosen: boolean;
}

const SERVED: Served = { level: apiLevel, isChosen: isApiLevelChosen };

/**
 * Records the dialect and the API level of the objects at the first start on a store. Group and namespace names are part of the keys, so a
 * start with another dialect throws an Error that says what to do. A store keeps its API level until `--api-level` is given: a start
 * without it throws an ApiLevelMismatch, after which the program starts again with the store's level. Objects of levels and fields that
 * another level does not have stay stored (ADR 64), so that replicas of several levels may use one store.
 */
export async function checkRecords(
  backend: Backend,
  prefix: string,
  signal: AbortSignal,
  served: Served = SERVED,
): Promise<void> {
  const keys = { dialect: `${prefix}.dialect`, level: `${prefix}.api-level` };
  const isNew = (await backend.get(keys.dialect, signal)).record === undefined;
  const own = formatApiLevel(served.level);
  // The level is there before the dialect, so that a store with a dialect alone is one of a server that had the first level only.
  if (isNew) await readOrCreate(backend, { key: keys.level, make: () => own }, signal);
  const found = await readOrCreate(backend, { key: keys.dialect, make: () => dialect }, signal);
  if (found !== dialect) {
    throw new Error(
      `the store below ${prefix} was written with --dialect=${found ?? 'unknown'}; start with that dialect, or on another store (--embedded-dir, or with etcd --etcd-prefix)`,
    );
  }
  const { record } = await backend.get(keys.level, signal);
  const stored = parseApiLevel(record?.value.toString('utf8') ?? '') ?? FIRST_LEVEL;
  if (stored !== served.level && !served.isChosen) throw new ApiLevelMismatch(stored);
  // When replicas start at different levels at once, the record of one of them stays.
  if (record === undefined) await backend.create(keys.level, Buffer.from(own), {}, signal);
  else if (stored !== served.level) {
    await backend.update(keys.level, Buffer.from(own), { expected: record.revision }, signal);
  }
}

const [FIRST_LEVEL = apiLevel] = VERIFIED_LEVELS;
