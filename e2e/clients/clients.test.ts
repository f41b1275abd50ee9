import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../../deploy/local/repository';
import { DIALECTS } from '../../shared/names';
import { suiteLocalServer } from '../support/suite';
import { explained } from '../support/workspace';
import type { Client } from './clients';
import { CLIENTS } from './clients';

/** A record of the last version with which a client worked; ORCH_CLIENTS=record updates it. */
interface Record {
  readonly version: string;
  /** Of the run. */
  readonly date: string;
  readonly dialects: readonly string[];
  readonly checked: readonly string[];
}

/** A client takes its time where it compiles, on a machine that does other work. */
const SCRIPT_MS_MAX = 9 * 60_000;
const RESULTS = path.join(__dirname, 'results.json');
/** A line of a script, which Ansible prints as JSON. */
const LINE = /^(?:\s*"msg": ")?(version|checked) ([^"\n]+)/gmu;

/** The lines of each script that passed, by client and dialect. */
const passed = new Map<string, readonly (readonly [word: string, text: string])[]>();

describe.each(DIALECTS)('in the dialect %s', (dialect) => {
  const local = suiteLocalServer(dialect);

  for (const client of CLIENTS.filter(({ dialects }) => dialects.includes(dialect))) {
    const missing = client.needs.find((file) => !existsSync(file));
    const reason = missing === undefined ? '' : ` (no ${path.relative(repositoryRoot, missing)})`;
    (missing === undefined ? test : test.skip)(
      `${client.title} works${reason}`,
      explained(async () => {
        const home = path.join(local.dir, client.title);
        mkdirSync(home, { recursive: true });
        const output = await runScript(client, {
          KUBECONFIG: local.replica.kubeconfig,
          ORCH_DIALECT: dialect,
          HOME: home,
          TMPDIR: home,
        });
        const lines = [...output.matchAll(LINE)].map(([, word = '', text = '']) => [word, text] as const);
        expect(lines.map(([word]) => word)).toEqual(expect.arrayContaining(['version', 'checked']));
        passed.set(keyOf(client, dialect), lines);
      }),
    );
  }
});

afterAll(() => {
  if (process.env['ORCH_CLIENTS'] === 'record') recordResults();
});

/** Returns what the script printed. Rejects with its output if it failed. */
async function runScript(
  client: Client,
  env: Readonly<{ HOME: string } & Partial<NodeJS.ProcessEnv>>,
): Promise<string> {
  const [program, ...args] = [...client.command, path.join(__dirname, client.script)];
  const options = {
    cwd: env.HOME,
    env: { ...process.env, ...env, ...client.env },
    timeout: SCRIPT_MS_MAX,
    maxBuffer: 64 * 1024 * 1024,
  };
  return new Promise((resolve, reject) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${client.script}: ${error.message}\n${stdout}\n${stderr}`));
    });
  });
}

function keyOf({ title }: Client, dialect: string): string {
  return `${title} ${dialect}`;
}

/** A client that was skipped or failed keeps its last record. */
function recordResults(): void {
  const before = JSON.parse(readFileSync(RESULTS, 'utf8')) as Readonly<{ [title: string]: Record }>;
  const date = new Date().toISOString().slice(0, 10);
  const rows = CLIENTS.flatMap((client): readonly (readonly [string, Record])[] => {
    const { title, dialects } = client;
    const runs = dialects.flatMap((dialect) => passed.get(keyOf(client, dialect)) ?? []);
    const isComplete = dialects.every((dialect) => passed.has(keyOf(client, dialect)));
    const old = before[title];
    if (!isComplete) return old === undefined ? [] : [[title, old]];
    const texts = (word: string): readonly string[] => [
      ...new Set(runs.filter(([each]) => each === word).map(([, text]) => text)),
    ];
    return [[title, { version: texts('version').join(', '), date, dialects, checked: texts('checked') }]];
  });
  writeFileSync(RESULTS, `${JSON.stringify(Object.fromEntries(rows), undefined, 2)}\n`);
}
