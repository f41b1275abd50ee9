import type nodeFs from 'node:fs';
import path from 'node:path';
import type nodeV8 from 'node:v8';
import type nodeVm from 'node:vm';
import type { ControlPlane, ControlPlaneOptions, ServingCertificate } from './types';

/** What an instance of the engine is made for. All modules of an instance share it. */
export interface Instance {
  readonly dialect: 'kubernetes' | 'orch';
  readonly apiLevel: string | undefined;
}

export interface Engine {
  /** Adds the first objects of control planes with the default options, so that a start need not create them. */
  addBeginning(text: string): void;
  makeServingCertificate(hosts: readonly string[]): ServingCertificate;
  startControlPlane(options: ControlPlaneOptions, build: { readonly version: string }): Promise<ControlPlane>;
}

type MakeEngine = (instance: Instance, require: (name: string) => unknown, folder: string) => Engine;

// A test runner may replace the modules of Node in its sandbox; these are the ones of the process.
const vm = builtin('node:vm') as typeof nodeVm;
const fs = builtin('node:fs') as typeof nodeFs;
const v8 = builtin('node:v8') as typeof nodeV8;

function builtin(name: string): unknown {
  const found: unknown = process.getBuiltinModule(name);
  if (found === undefined) throw new Error(`${name} is no module of this Node`);
  return found;
}

/** Modules that take milliseconds to load, and that a control plane without connections does not use. */
const LATE: ReadonlySet<string> = new Set([
  'node:child_process',
  'node:http2',
  'node:inspector',
  'node:worker_threads',
  'node:zlib',
]);

/** A module that is loaded when one of its exports is read. */
function late(name: string): unknown {
  return new Proxy({}, { get: (_, key) => (builtin(name) as Record<PropertyKey, unknown>)[key] });
}

const FILE = path.join(__dirname, 'engine.js');
const LOADED = Symbol.for(`orch.engine ${FILE}`);

interface Loaded {
  readonly script: nodeVm.Script;
  readonly engines: Map<string, Engine>;
  isCached: boolean;
}

/**
 * Returns the engine of an instance. The bundle is compiled once for a process, in its main context, so that all test files that a worker of a
 * test runner runs share it; for each instance its modules are evaluated again.
 */
export function loadEngine(instance: Instance): Engine {
  const process_ = vm.runInThisContext('globalThis') as { [LOADED]?: Loaded };
  const loaded = (process_[LOADED] ??= compile());
  const key = JSON.stringify(instance);
  const known = loaded.engines.get(key);
  if (known !== undefined) return known;
  const make = loaded.script.runInThisContext() as MakeEngine;
  // Only modules of Node: whatever else the engine needs is in the bundle.
  const engine = make(instance, (name) => (LATE.has(name) ? late(name) : builtin(name)), __dirname);
  loaded.engines.set(key, engine);
  engine.addBeginning(fs.readFileSync(path.join(__dirname, `beginning-${instance.dialect}.json`), 'utf8'));
  return engine;
}

/** Compiled code is only good for one version of V8 with the same flags. */
const cacheFile = (): string =>
  path.join(__dirname, `engine-${v8.cachedDataVersionTag().toString(36)}.cache`);

function compile(): Loaded {
  // The build leaves no other characters in it, and this is five times faster than UTF-8.
  const source = fs.readFileSync(FILE, 'latin1');
  let cachedData: Buffer | undefined;
  try {
    cachedData = isCacheDisabled() ? undefined : fs.readFileSync(cacheFile());
  } catch {
    // The first start on this machine, which writes it.
  }
  const script = new vm.Script(source, {
    filename: FILE,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  return {
    script,
    engines: new Map(),
    isCached: isCacheDisabled() || (cachedData !== undefined && script.cachedDataRejected !== true),
  };
}

function isCacheDisabled(): boolean {
  return 'NODE_DISABLE_COMPILE_CACHE' in process.env;
}

/** Writes the compiled code beside the bundle, with all functions that a start needs. Without the right to do so, later starts compile again. */
export function cacheCode(): void {
  const { [LOADED]: loaded } = vm.runInThisContext('globalThis') as { [LOADED]?: Loaded };
  if (loaded === undefined || loaded.isCached) return;
  loaded.isCached = true;
  const file = cacheFile();
  const unfinished = `${file}.${String(process.pid)}`;
  try {
    fs.writeFileSync(unfinished, loaded.script.createCachedData());
    fs.renameSync(unfinished, file);
  } catch {
    fs.rmSync(unfinished, { force: true });
  }
}
