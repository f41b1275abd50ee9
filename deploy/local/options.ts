import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Dialect } from '../../shared/names';
import { DIALECTS } from '../../shared/names';

export interface LocalOptions {
  readonly dataDir: string;
  /** Undefined: the default of the launcher. */
  readonly port: number | undefined;
  readonly dialect: Dialect;
}

/** The parsed command line of a launcher: options, or a text to print with its exit code. */
export type ParsedOptions =
  | { readonly ok: true; readonly options: LocalOptions }
  | { readonly ok: false; readonly exitCode: 0 | 2; readonly text: string };

/** Reads `--data-dir`, `--port` and `--dialect` (or ORCH_DATA_DIR, ORCH_PORT and ORCH_DIALECT); an unknown argument is an error. */
export function parseLocalOptions(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  defaults: { readonly command: string; readonly dataDir: string; readonly port: string },
): ParsedOptions {
  const usage = `${defaults.command} [-- --data-dir=DIR] [--port=N] [--dialect=${DIALECTS.join('|')}]

  --data-dir   Where everything is kept (ORCH_DATA_DIR; default ${defaults.dataDir}).
  --port       Where the API is served on 127.0.0.1 (ORCH_PORT; default ${defaults.port}).
  --dialect    The names the API speaks (ORCH_DIALECT; default orch).`;
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        'data-dir': { type: 'string', default: env['ORCH_DATA_DIR'] ?? defaults.dataDir },
        port: { type: 'string', default: env['ORCH_PORT'] ?? '' },
        dialect: { type: 'string', default: env['ORCH_DIALECT'] ?? 'orch' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) return { ok: false, exitCode: 0, text: usage };
    const options = {
      dataDir: path.resolve(values['data-dir']),
      port: parsePort(values.port),
      dialect: parseDialect(values.dialect),
    };
    return { ok: true, options };
  } catch (error) {
    return { ok: false, exitCode: 2, text: `${(error as Error).message}\n\n${usage}` };
  }
}

const PORT_MAX = 65_535;

function parsePort(text: string): number | undefined {
  if (text === '') return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port <= PORT_MAX) return port;
  throw new Error(`--port must be a number from 1 to ${String(PORT_MAX)}, not "${text}".`);
}

function parseDialect(text: string): Dialect {
  const dialect = DIALECTS.find((it) => it === text);
  if (dialect === undefined) throw new Error(`--dialect must be ${DIALECTS.join(' or ')}, not "${text}".`);
  return dialect;
}
