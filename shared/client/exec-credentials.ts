import type { Clock } from '../concurrency/clock';
import { systemClock } from '../concurrency/clock';
import { untilAborted } from '../concurrency/abort';
import type { ExecCredential, ExecPlugin } from './exec-plugin';
import { runExecPlugin } from './exec-plugin';

/** Credentials of a plugin, which runs on first use, on expiry, and after a refusal. */
export interface ExecCredentials {
  /** Throws ExecPluginError; the next call runs the plugin again. */
  current(signal?: AbortSignal): Promise<ExecCredential>;
  /** Discards credentials that the server refused. */
  refused(credential: ExecCredential): void;
}

const known = new WeakMap<ExecPlugin, ExecCredentials>();

/** Returns the shared credentials of this plugin (single-flight). */
export function execCredentialsOf(plugin: ExecPlugin): ExecCredentials {
  const found = known.get(plugin) ?? createExecCredentials(async () => runExecPlugin(plugin));
  known.set(plugin, found);
  return found;
}

export function createExecCredentials(
  run: () => Promise<ExecCredential>,
  clock: Clock = systemClock,
): ExecCredentials {
  let held: ExecCredential | undefined;
  let running: Promise<ExecCredential> | undefined;
  const renew = async (): Promise<ExecCredential> => {
    try {
      held = await run();
      return held;
    } finally {
      running = undefined;
    }
  };
  return {
    current: async (signal) => {
      if (held !== undefined && clock.now() < held.expiresAtMs) return held;
      running ??= renew();
      return signal === undefined ? running : untilAborted(running, signal);
    },
    refused: (credential) => {
      if (credential === held) held = undefined;
    },
  };
}
