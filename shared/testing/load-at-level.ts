const LEVEL = 'ORCH_API_LEVEL';

/** Loads modules as a process at an API level does: they read the level when they are loaded. `load` returns what it requires. */
export function loadAtLevel<T>(level: string, load: () => T): T {
  const before = process.env[LEVEL];
  process.env[LEVEL] = level;
  jest.resetModules();
  try {
    return load();
  } finally {
    if (before === undefined) delete process.env[LEVEL];
    else process.env[LEVEL] = before;
  }
}
