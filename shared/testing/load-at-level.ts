/** Loads modules as a process at an API level does: they read the level when they are loaded. `load` returns what it requires. */
export function loadAtLevel<T>(level: string, load: () => T): T {
  return loadWith('ORCH_API_LEVEL', level, load);
}

/** Loads modules as a process of a dialect does, like {@link loadAtLevel}. */
export function loadInDialect<T>(dialect: string, load: () => T): T {
  return loadWith('ORCH_DIALECT', dialect, load);
}

function loadWith<T>(variable: string, value: string, load: () => T): T {
  const before = process.env[variable];
  process.env[variable] = value;
  jest.resetModules();
  try {
    return load();
  } finally {
    if (before === undefined) delete process.env[variable];
    else process.env[variable] = before;
  }
}
