import { Writable } from 'node:stream';
import { parseDurationMs } from './duration';
import type { FlagRow } from './flag-row';
import { helpText, writeHelp } from './help';
import { parseFlags } from './parse-flags';

const ROWS = [
  { name: 'bind-address', type: 'string', default: '0.0.0.0', group: 'Serving', help: 'Where to listen.' },
  {
    name: 'secure-port',
    type: 'int',
    default: 6443,
    min: 1,
    max: 65535,
    group: 'Serving',
    help: 'The port.',
  },
  { name: 'ring-budget', type: 'int', unit: 'Mb', default: 64, group: 'Cache', help: 'The budget.' },
  { name: 'anonymous-auth', type: 'bool', default: true, group: 'Authentication', help: 'Let anyone ask.' },
  { name: 'request-timeout', type: 'duration', default: '1m0s', group: 'Serving', help: 'The limit.' },
  { name: 'etcd-servers', type: 'stringList', default: [], group: 'Storage', help: 'Where etcd is.' },
  {
    name: 'authorization-mode',
    type: 'stringList',
    values: ['AlwaysAllow', 'AlwaysDeny'],
    default: ['AlwaysAllow'],
    group: 'Authorization',
    help: 'Who may do what.',
  },
  {
    name: 'storage-backend',
    type: 'enum',
    values: ['etcd3', 'embedded'],
    default: 'etcd3',
    group: 'Storage',
    help: 'The store.',
  },
  { name: 'v', short: 'v', type: 'int', default: 0, group: 'Logs', help: 'How much to log.' },
] as const satisfies readonly FlagRow[];

function values(...argv: string[]) {
  const parsed = parseFlags(ROWS, argv);
  if (parsed.outcome !== 'values') throw new Error(JSON.stringify(parsed));
  return parsed.values;
}

function errors(...argv: string[]): readonly string[] {
  const parsed = parseFlags(ROWS, argv);
  return parsed.outcome === 'errors' ? parsed.errors : [];
}

describe('reading a command line', () => {
  test('without flags every field has its default, with the unit in its name', () => {
    expect(values()).toEqual({
      bindAddress: '0.0.0.0',
      securePort: 6443,
      ringBudgetMb: 64,
      anonymousAuth: true,
      requestTimeoutMs: 60_000,
      etcdServers: [],
      authorizationMode: ['AlwaysAllow'],
      storageBackend: 'etcd3',
      v: 0,
    });
  });

  test('a value may follow an equals sign or be the next word', () => {
    expect(values('--bind-address=::1', '--secure-port', '7443')).toMatchObject({
      bindAddress: '::1',
      securePort: 7443,
    });
  });

  test('a value may itself hold equals signs and be empty', () => {
    expect(values('--bind-address=a=b').bindAddress).toBe('a=b');
    expect(values('--bind-address=').bindAddress).toBe('');
  });

  test.each([
    [['--anonymous-auth'], true],
    [['--anonymous-auth=false'], false],
    [['--anonymous-auth=true', '--anonymous-auth=0'], false],
  ])('%j sets the switch to %s', (argv, expected) => {
    expect(values(...argv).anonymousAuth).toBe(expected);
  });

  test('a list grows by repetition and by commas, and the first value replaces the default', () => {
    expect(
      values('--etcd-servers=https://a:1,https://b:2', '--etcd-servers', 'https://c:3').etcdServers,
    ).toEqual(['https://a:1', 'https://b:2', 'https://c:3']);
    expect(values('--authorization-mode=AlwaysDeny').authorizationMode).toEqual(['AlwaysDeny']);
  });

  test.each([[['-v', '4']], [['-v=4']], [['-v4']], [['--v=4']]])('%j sets the verbosity', (argv) => {
    expect(values(...argv).v).toBe(4);
  });

  test('underscores in a name are read as dashes', () => {
    expect(values('--secure_port=1').securePort).toBe(1);
  });

  test('given flags are distinguished from defaults', () => {
    const parsed = parseFlags(ROWS, ['--anonymous-auth']);
    expect(parsed.outcome === 'values' && [...parsed.given]).toEqual(['anonymous-auth']);
  });
});

describe('errors', () => {
  test('an unknown flag is refused with the nearest known name', () => {
    expect(errors('--secure-prot=1')).toEqual(['unknown flag: --secure-prot; did you mean --secure-port?']);
    expect(errors('--completely-different', 'x')).toEqual(['unknown flag: --completely-different']);
    expect(errors('-secure-port=1')).toEqual(['unknown flag: -secure-port=1; did you mean --secure-port?']);
  });

  test('an unknown choice is refused with the choices and the nearest one', () => {
    expect(errors('--storage-backend=embeded')).toEqual([
      'invalid value "embeded" for --storage-backend: it is not one of etcd3, embedded; did you mean embedded?',
    ]);
    expect(errors('--authorization-mode=AlwaysAllow,RBAC')).toEqual([
      'invalid value "AlwaysAllow,RBAC" for --authorization-mode: it is not one of AlwaysAllow, AlwaysDeny',
    ]);
  });

  test.each([
    ['--secure-port=x', 'is no whole number'],
    ['--secure-port=0', 'must be at least 1'],
    ['--secure-port=65536', 'must be at most 65535'],
    ['--request-timeout=60', 'is no duration'],
    ['--request-timeout=-1s', 'must not be negative'],
    ['--anonymous-auth=yes', 'is neither true nor false'],
  ])('%s is refused: it %s', (word, problem) => {
    expect(errors(word)).toEqual([expect.stringContaining(problem)]);
  });

  test('all errors are reported at once', () => {
    expect(errors('--nope', '--secure-port=x')).toHaveLength(2);
  });

  test('a flag without its value is refused', () => {
    expect(errors('--bind-address')).toEqual(['--bind-address needs a value']);
  });

  test('a stray word is refused, and after a switch the right form is shown', () => {
    expect(errors('serve')).toEqual(['unexpected argument "serve"']);
    expect(errors('--anonymous-auth', 'false')).toEqual([
      'unexpected argument "false"; write --anonymous-auth=false',
    ]);
  });
});

describe('help', () => {
  test.each(['--help', '-h'])('%s prints help, also beside errors', (word) => {
    expect(parseFlags(ROWS, ['--nope', word])).toEqual({ outcome: 'help' });
  });

  test('the text shows every flag once under its group, with default and choices', () => {
    const text = helpText(ROWS, { program: 'prog', summary: 'It serves.' });
    expect(text).toContain('Usage:\n  prog [flags]');
    expect(text.match(/^Serving flags:$/gm)).toHaveLength(1);
    expect(text).toContain('  -v, --v int\n      How much to log. (default 0)');
    expect(text).toContain(
      '      --storage-backend string\n      The store. One of: etcd3, embedded. (default etcd3)',
    );
    for (const row of ROWS) expect(text.split(new RegExp(`--${row.name}\\b`))).toHaveLength(2);
  });

  test('a reader that closes early is no error', async () => {
    const left = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    const pipe = new Writable({
      write: (_chunk, _encoding, done) => {
        done(left);
      },
    });
    const closed = new Promise((resolve) => pipe.once('close', resolve));
    writeHelp(pipe, ROWS, { program: 'prog', summary: 'It serves.' });
    await closed;
    expect(pipe.errored).toBe(left);
  });
});

describe('durations', () => {
  test.each([
    ['0', 0],
    ['5m0s', 300_000],
    ['300ms', 300],
    ['1h', 3_600_000],
    ['1h30m1.5s', 5_401_500],
    ['-2s', -2_000],
    ['1500us', 1.5],
    ['1500\u00b5s', 1.5],
    ['1500\u03bcs', 1.5],
  ])('%s is %d milliseconds', (text, ms) => {
    expect(parseDurationMs(text)).toBeCloseTo(ms, 6);
  });

  test.each(['', '5', 'm', '1 h', '1d', '1h30', 's1', '-', '1e3s'])('"%s" is no duration', (text) => {
    expect(parseDurationMs(text)).toBeUndefined();
  });

  test('a long run of digits is refused in time that grows with its length, not with the square of it', () => {
    // Quadratic parsing would take minutes.
    expect(parseDurationMs(`${'1'.repeat(1_000_000)}x`)).toBeUndefined();
  });
});
