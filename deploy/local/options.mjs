/**
 * The command lines of `npm start` and `npm run start:ha`. They are read before anything is installed or built, so that `--help`, `--version` and
 * mistakes are answered at once.
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { readBuildInfo } from './build-info.mjs';
import { fail, repositoryRoot } from './toolchain.mjs';

/** The same as DIALECTS of shared/names.ts, which is not compiled yet. */
const DIALECTS = ['orch', 'kubernetes'];
/** All that are on by default, and bootstrap tokens for joining nodes, as in usual clusters. */
const CONTROLLERS = '*,bootstrapsigner,tokencleaner';
const LOOPBACK = '127.0.0.1';
const PORT_MAX = 65_535;
/** The same as that of orch-node. */
const NODES_MAX = 1_000;
const USAGE_ERROR = 2;
const NODES_HELP = `  --nodes      The number of stand-in nodes (ORCH_NODES; default 0: none). They report pods as running and run no containers;
               a scheduler starts as well.
`;

/**
 * Returns the options (`LocalOptions` in start.ts) of the command line and of the environment; `port` is undefined if none is given. Prints help,
 * version or a mistake instead, and exits. `command` is what the user typed, `defaults` says where the data is, which port is used by default, and
 * whether stand-in nodes can be started.
 */
export function readLocalOptions(command, { takesNodes = false, ...defaults }) {
  const { env } = process;
  const usage = `${command} [-- --data-dir=DIR] [--port=N] [--listen=ADDRESS] [--dialect=${DIALECTS.join('|')}] [--api-level=1.N]
         [--controllers=LIST]${takesNodes ? ' [--nodes=N]' : ''}

  --data-dir   Where everything is kept (ORCH_DATA_DIR; default ${defaults.dataDir}).
  --port       The port of the API (ORCH_PORT; default ${defaults.port}).
  --listen     The IP address on which the API is served (ORCH_LISTEN; default ${LOOPBACK}: this machine only). With another one,
               or 0.0.0.0 or :: for all, other machines reach the API, and the Endpoints of its Service have the address.
  --dialect    The names of API groups and labels (ORCH_DIALECT; default orch): orch for the project's own, which no client of
               Kubernetes takes for those of a real cluster; kubernetes for kubectl, Helm and controllers, as the chart does.
  --api-level  The Kubernetes release whose API is served, from 1.21 to 1.36 (ORCH_API_LEVEL).
  --controllers
               The controllers to run (ORCH_CONTROLLERS; default ${CONTROLLERS}); '*,-deployment,-replicaset' leaves two of
               them to another controller manager. orch-controller-manager --help lists them.
${takesNodes ? NODES_HELP : ''}  --version    Prints the version.
  --help       Prints this text.
`;
  try {
    const { values } = parseArgs({
      options: {
        'data-dir': { type: 'string', default: env.ORCH_DATA_DIR ?? defaults.dataDir },
        port: { type: 'string', default: env.ORCH_PORT ?? '' },
        listen: { type: 'string', default: env.ORCH_LISTEN ?? LOOPBACK },
        dialect: { type: 'string', default: env.ORCH_DIALECT ?? DIALECTS[0] },
        'api-level': { type: 'string', default: env.ORCH_API_LEVEL ?? '' },
        controllers: { type: 'string', default: env.ORCH_CONTROLLERS ?? CONTROLLERS },
        ...(takesNodes ? { nodes: { type: 'string', default: env.ORCH_NODES ?? '0' } } : {}),
        version: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) exitWith(usage);
    if (values.version) exitWith(`${formatVersion()}\n`);
    // The programs that are started inherit it.
    if (values['api-level'] !== '') env.ORCH_API_LEVEL = parseApiLevel(values['api-level']);
    return {
      dataDir: path.resolve(values['data-dir']),
      port: parsePort(values.port),
      listen: parseAddress(values.listen),
      dialect: parseDialect(values.dialect),
      controllers: values.controllers,
      nodes: parseNodes(values.nodes ?? '0'),
    };
  } catch (error) {
    return fail(`${error.message}\n\n${usage.trimEnd()}`, USAGE_ERROR);
  }
}

function exitWith(text) {
  process.stdout.write(text);
  process.exit(0);
}

/** As the programs print it: version, commit and date. */
function formatVersion() {
  const { version } = JSON.parse(readFileSync(path.join(repositoryRoot, 'package.json'), 'utf8'));
  const { commit, treeState, date } = readBuildInfo(repositoryRoot, process.env, Date.now());
  const sources = commit !== '' && treeState === 'dirty' ? `${commit}-dirty` : commit;
  return ['orch', version, sources, date].filter((word) => word !== '').join(' ');
}

function parsePort(text) {
  if (text === '') return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port <= PORT_MAX) return port;
  throw new Error(`--port must be a number from 1 to ${PORT_MAX}, not "${text}".`);
}

function parseNodes(text) {
  const nodes = Number(text);
  if (text !== '' && Number.isInteger(nodes) && nodes >= 0 && nodes <= NODES_MAX) return nodes;
  throw new Error(`--nodes must be a number from 0 to ${NODES_MAX}, not "${text}".`);
}

function parseAddress(text) {
  if (isIP(text) !== 0) return text;
  throw new Error(`--listen must be an IP address, not "${text}".`);
}

function parseDialect(text) {
  if (DIALECTS.includes(text)) return text;
  throw new Error(`--dialect must be ${DIALECTS.join(' or ')}, not "${text}".`);
}

function parseApiLevel(text) {
  if (/^1\.(?:2[1-9]|3[0-6])$/.test(text)) return text;
  throw new Error(`--api-level must be a release from 1.21 to 1.36, not "${text}".`);
}
