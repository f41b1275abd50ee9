import { generateKeyPairSync } from 'node:crypto';
import * as der from '../der';
import type { KeyPair } from './random-chains';
import type { Random } from '../../testing/random';
import type { RawCertificate, TestCertificateOptions } from './test-certificates';
import { ANY_USAGE, rawCertificate, SERVER_AUTH } from './test-certificates';

type Writable = { -readonly [Key in keyof TestCertificateOptions]: TestCertificateOptions[Key] };

/** A chain before it is signed. */
export interface ChainDraft {
  leaf: Writable;
  /** From the issuer of the leaf to the root. */
  readonly authorities: Writable[];
  /** The number of the authority that is trusted; −1 for the leaf itself. */
  anchor: number;
  /** Changes what is sent along, after the signatures were made. */
  readonly alterSent: ((sent: readonly RawCertificate[]) => readonly RawCertificate[])[];
  /** To choose from, of every kind. */
  readonly keys: readonly KeyPair[];
  /** A key of an unrelated party. */
  readonly stranger: KeyPair;
  /** What the leaf says its issuer is called; absent: what the issuer says. */
  issuerName?: Buffer;
  /** One byte of the leaf is another than the one that was signed. */
  isChanged?: true;
  /** The leaf has signed itself. */
  isAlone?: true;
  /** Only an unrelated root is trusted. */
  isAstray?: true;
  readonly now: number;
}

/** One way to make a chain odd. Most are faults; some are only unusual. */
export interface Oddity {
  readonly name: string;
  /** Absent: to every chain. */
  readonly fits?: (draft: ChainDraft) => boolean;
  readonly apply: (draft: ChainDraft, random: Random) => void;
}

const HOUR_MS = 3_600_000;
const NAME_CONSTRAINTS = '2.5.29.30';

/** Every certificate of the chain. */
function all({ leaf, authorities }: ChainDraft): readonly Writable[] {
  return [leaf, ...authorities];
}

function hasIntermediate({ authorities }: ChainDraft): boolean {
  return authorities.length > 1;
}

function addExtension(options: Writable, oid: string, value: Buffer, isCritical: boolean): void {
  options.extensions = [...(options.extensions ?? []), [oid, value, isCritical]];
}

/** Both times in another writing, at the same moments. */
function writeTimes(options: Writable, write: (ms: number) => Buffer): void {
  options.times = [write(options.notBeforeMs ?? 0), write(options.notAfterMs ?? 0)];
}

function digitsOf(ms: number): string {
  return new Date(ms).toISOString().replaceAll(/[-:T]|\.\d+Z/g, '');
}

function element(tag: number, content: Buffer | string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from([tag, bytes.length]), bytes]);
}

const UTC_TIME = 0x17;
const GENERALIZED_TIME = 0x18;
const INTEGER = 0x02;
const PRINTABLE_STRING = 0x13;

/** Limits on names, and a list of subtrees of one name each: 0 for what is permitted, 1 for what is excluded. */
function nameConstraints(kind: 0 | 1, name: Buffer): Buffer {
  return der.sequence(der.explicit(kind, der.sequence(name)));
}

const directory = (text: string): Buffer =>
  der.explicit(
    4,
    der.sequence(der.set(der.sequence(der.objectIdentifier('2.5.4.10'), der.utf8String(text)))),
  );
const NETWORK_10 = Buffer.from([10, 0, 0, 0, 255, 0, 0, 0]);
const NETWORK_11 = Buffer.from([11, 0, 0, 0, 255, 0, 0, 0]);
/** Names that a leaf has, and others, by kind. */
const NAMES: readonly (readonly [kind: string, own: Buffer, other: Buffer])[] = [
  ['email', der.implicit(1, Buffer.from('b.example')), der.implicit(1, Buffer.from('c.example'))],
  ['DNS', der.implicit(2, Buffer.from('b.example')), der.implicit(2, Buffer.from('c.example'))],
  ['URI', der.implicit(6, Buffer.from('.b.example')), der.implicit(6, Buffer.from('.c.example'))],
  ['IP', der.implicit(7, NETWORK_10), der.implicit(7, NETWORK_11)],
];

const limits = (name: string, kind: 0 | 1, which: 1 | 2): Oddity => ({
  name,
  apply: ({ authorities }, random) => {
    const names = random.pick(NAMES);
    addExtension(
      random.pick(authorities),
      NAME_CONSTRAINTS,
      nameConstraints(kind, names[which]),
      random.chance(0.5),
    );
  },
});

/** What can be odd about the times. */
const TIMES: readonly Oddity[] = [
  {
    name: 'expired',
    apply: (draft, random) => {
      random.pick(all(draft)).notAfterMs = draft.now - HOUR_MS;
    },
  },
  {
    name: 'not yet valid',
    apply: (draft, random) => {
      random.pick(all(draft)).notBeforeMs = draft.now + HOUR_MS;
    },
  },
  {
    name: 'GeneralizedTime before 2050',
    apply: (draft, random) => {
      writeTimes(random.pick(all(draft)), (ms) => element(GENERALIZED_TIME, `${digitsOf(ms)}Z`));
    },
  },
  {
    name: 'expired in GeneralizedTime',
    apply: (draft, random) => {
      const odd = random.pick(all(draft));
      odd.notAfterMs = draft.now - HOUR_MS;
      writeTimes(odd, (ms) => element(GENERALIZED_TIME, `${digitsOf(ms)}Z`));
    },
  },
  {
    name: 'fractions of seconds',
    apply: (draft, random) => {
      writeTimes(random.pick(all(draft)), (ms) => element(GENERALIZED_TIME, `${digitsOf(ms)}.5Z`));
    },
  },
  {
    name: 'times without seconds',
    apply: (draft, random) => {
      const odd = random.pick(all(draft));
      odd.notAfterMs = draft.now + HOUR_MS;
      writeTimes(odd, (ms) => element(UTC_TIME, `${digitsOf(ms).slice(2, 12)}Z`));
    },
  },
  {
    name: 'times with an offset',
    apply: (draft, random) => {
      const odd = random.pick(all(draft));
      odd.notAfterMs = draft.now + 100 * HOUR_MS;
      writeTimes(odd, (ms) => element(UTC_TIME, `${digitsOf(ms).slice(2)}+0100`));
    },
  },
  {
    name: 'times that are none',
    apply: (draft, random) => {
      writeTimes(random.pick(all(draft)), () => element(UTC_TIME, '999999999999Z'));
    },
  },
];

/** What a certificate says it is for, and how it limits those below it. */
const PURPOSES: readonly Oddity[] = [
  {
    name: 'for servers only',
    apply: (draft, random) => {
      random.pick(all(draft)).extendedUsages = [SERVER_AUTH];
    },
  },
  {
    name: 'for any use, by that name',
    apply: (draft, random) => {
      random.pick(all(draft)).extendedUsages = [ANY_USAGE];
    },
  },
  {
    name: 'a client whose key may only encipher',
    apply: ({ leaf }) => {
      leaf.keyUsage = [2];
    },
  },
  {
    name: 'an authority whose key may not sign certificates',
    apply: ({ authorities }, random) => {
      random.pick(authorities).keyUsage = [0, 6];
    },
  },
  {
    name: 'an issuer that says it is no authority',
    apply: ({ authorities }, random) => {
      delete random.pick(authorities).authority;
    },
  },
  {
    name: 'an issuer that does not say whether it is an authority',
    apply: ({ authorities }, random) => {
      const odd = random.pick(authorities);
      delete odd.authority;
      odd.isLeftOpen = true;
      odd.keyUsage = [5];
    },
  },
  {
    name: 'an intermediate of version 1',
    fits: hasIntermediate,
    apply: ({ authorities }) => {
      const [first] = authorities;
      if (first !== undefined) first.isOldVersion = true;
    },
  },
  {
    name: 'a root of version 1',
    apply: ({ authorities }) => {
      const last = authorities.at(-1);
      if (last !== undefined) last.isOldVersion = true;
    },
  },
  {
    name: 'too deep for an authority',
    fits: hasIntermediate,
    apply: ({ authorities }, random) => {
      const level = 1 + random.below(authorities.length - 1);
      const odd = authorities[level];
      if (odd !== undefined) odd.authority = { pathLength: random.below(level) };
    },
  },
  {
    name: 'a negative path length',
    apply: ({ authorities }, random) => {
      const odd = random.pick(authorities);
      odd.isLeftOpen = true;
      addExtension(
        odd,
        '2.5.29.19',
        der.sequence(der.boolean(true), element(INTEGER, Buffer.from([0xff]))),
        true,
      );
    },
  },
  {
    name: 'a path length of a client',
    apply: ({ leaf }) => {
      leaf.isLeftOpen = true;
      addExtension(leaf, '2.5.29.19', der.sequence(der.integer(0)), true);
    },
  },
  limits('names that are permitted', 0, 1),
  limits('names that are not permitted', 0, 2),
  limits('names that are excluded', 1, 1),
  limits('other names are excluded', 1, 2),
  {
    name: 'critical limits on directory names',
    apply: ({ authorities }, random) => {
      const limit = nameConstraints(1, directory('ops'));
      addExtension(random.pick(authorities), NAME_CONSTRAINTS, limit, true);
    },
  },
  {
    name: 'limits on directory names',
    apply: ({ leaf, authorities }, random) => {
      leaf.organizations = ['devs'];
      const limit = nameConstraints(0, directory('ops'));
      addExtension(random.pick(authorities), NAME_CONSTRAINTS, limit, false);
    },
  },
  {
    name: 'an unknown critical extension',
    apply: (draft, random) => {
      addExtension(random.pick(all(draft)), '1.2.3.4.6', der.nothing(), true);
    },
  },
  {
    name: 'critical limits on policies',
    apply: ({ authorities }, random) => {
      addExtension(
        random.pick(authorities),
        '2.5.29.36',
        der.sequence(der.implicit(0, Buffer.from([9]))),
        true,
      );
    },
  },
  {
    name: 'a critical identifier of the key',
    apply: ({ leaf }) => {
      addExtension(leaf, '2.5.29.14', der.octetString(Buffer.alloc(20, 1)), true);
    },
  },
];

/** Gives one certificate of the chain another key. The issuer of a leaf that is signed with RSA-PSS needs its own. */
function rekey({ leaf, authorities }: ChainDraft, keys: KeyPair, random: Random): void {
  random.pick([leaf, ...authorities.slice(leaf.isPss === true ? 1 : 0)]).keys = keys;
}

/** Oddities of signatures, issuers and the certificates that are sent along. */
const ISSUERS: readonly Oddity[] = [
  ...(
    [
      ['a key of an unusual curve', generateKeyPairSync('ec', { namedCurve: 'sect283k1' })],
      ['a short RSA key', generateKeyPairSync('rsa', { modulusLength: 768 })],
    ] as const
  ).map(([name, keys]) => ({
    name,
    apply: (draft: ChainDraft, random: Random) => {
      rekey(draft, keys, random);
    },
  })),
  {
    name: 'signed by another key',
    apply: (draft, random) => {
      // A root is trusted by its bytes: its signature is not verified.
      const below = all(draft).slice(0, draft.authorities.length);
      random.pick(below).signingKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    },
  },
  {
    name: 'changed after it was signed',
    apply: (draft) => {
      draft.isChanged = true;
    },
  },
  {
    name: 'signed with SHA-1',
    fits: ({ authorities }) => authorities[0]?.keys?.privateKey.asymmetricKeyType !== 'ed25519',
    apply: ({ leaf }) => {
      leaf.hash = 'sha1';
    },
  },
  {
    name: 'signed with RSA-PSS',
    apply: ({ leaf, authorities, keys }, random) => {
      const [first] = authorities;
      const isRsa = ({ privateKey }: KeyPair): boolean => privateKey.asymmetricKeyType === 'rsa';
      if (first !== undefined) first.keys = random.pick(keys.filter(isRsa));
      leaf.isPss = true;
    },
  },
  {
    name: 'another root is trusted',
    apply: (draft) => {
      draft.isAstray = true;
    },
  },
  {
    name: 'an intermediate is trusted',
    fits: hasIntermediate,
    apply: (draft, random) => {
      draft.anchor = random.below(draft.authorities.length - 1);
    },
  },
  {
    name: 'the client itself is trusted',
    apply: (draft) => {
      draft.anchor = -1;
    },
  },
  {
    name: 'a client that has signed itself',
    apply: (draft) => {
      draft.isAlone = true;
    },
  },
  {
    name: 'an intermediate is missing',
    fits: hasIntermediate,
    apply: ({ alterSent }) => {
      alterSent.push(() => []);
    },
  },
  {
    name: 'everything is sent twice',
    apply: ({ alterSent }) => {
      alterSent.push((sent) => [...sent, ...sent]);
    },
  },
  {
    name: 'what is not needed and cannot be read is sent along',
    apply: ({ leaf, stranger, alterSent }) => {
      const broken = element(UTC_TIME, '999999999999Z');
      const commonName = `unneeded by ${leaf.commonName ?? ''}`;
      const unneeded = rawCertificate({ commonName, keys: stranger, times: [broken, broken] });
      alterSent.push((sent) => [unneeded, ...sent]);
    },
  },
  {
    name: 'an identifier of another key for the issuer',
    apply: ({ leaf, authorities }) => {
      const [issuer] = authorities;
      if (issuer === undefined) return;
      addExtension(issuer, '2.5.29.14', der.octetString(Buffer.alloc(20, 1)), false);
      addExtension(leaf, '2.5.29.35', der.sequence(der.implicit(0, Buffer.alloc(20, 2))), false);
    },
  },
  {
    name: 'a client named like its issuer',
    apply: ({ leaf, authorities }) => {
      const [issuer] = authorities;
      leaf.organizations = [];
      if (issuer?.commonName !== undefined) leaf.commonName = issuer.commonName;
    },
  },
  {
    name: 'another authority of the same name is sent first',
    apply: ({ authorities, stranger, alterSent }) => {
      const [first] = authorities;
      if (first === undefined) return;
      const { issuer: _issuer, ...own } = first;
      const double = rawCertificate({ ...own, keys: stranger });
      alterSent.push((sent) => [double, ...sent]);
    },
  },
  {
    name: 'another authority has signed the same intermediate',
    fits: hasIntermediate,
    apply: ({ authorities, stranger, alterSent }) => {
      const [first] = authorities;
      if (first === undefined) return;
      const other = rawCertificate({
        ...first,
        commonName: `cross of ${first.commonName ?? ''}`,
        keys: stranger,
      });
      const crossed = rawCertificate({ ...first, issuer: other });
      alterSent.push((sent) => [crossed, other, ...sent]);
    },
  },
];

/** What can be odd about the bytes. */
const ENCODINGS: readonly Oddity[] = [
  ...(
    [
      ['a negative serial number', element(INTEGER, Buffer.from([0x80, 1]))],
      ['zero for a serial number', element(INTEGER, Buffer.from([0]))],
      ['a serial number of 40 bytes', element(INTEGER, Buffer.alloc(40, 0x11))],
      ['a serial number with zeros before it', element(INTEGER, Buffer.from([0, 0, 1]))],
      ['no bytes for a serial number', element(INTEGER, Buffer.alloc(0))],
    ] as const
  ).map(([name, serial]) => ({
    name,
    apply: ({ leaf }: ChainDraft) => {
      leaf.serial = serial;
    },
  })),
  {
    name: 'the name of the issuer in another kind of string',
    apply: (draft) => {
      const { commonName = '' } = draft.authorities[0] ?? {};
      const name = der.sequence(der.objectIdentifier('2.5.4.3'), element(PRINTABLE_STRING, commonName));
      draft.issuerName = der.sequence(der.set(name));
    },
  },
  {
    name: 'a length in more bytes than it needs',
    apply: ({ leaf }) => {
      leaf.alter = (toBeSigned) => {
        const content = toBeSigned.subarray(contentStart(toBeSigned));
        const length = Buffer.alloc(5, 0);
        length.writeUInt8(0x84);
        length.writeUInt32BE(content.length, 1);
        return Buffer.concat([Buffer.from([0x30]), length, content]);
      };
    },
  },
  {
    name: 'an indefinite length',
    apply: ({ leaf }) => {
      leaf.alter = (toBeSigned) =>
        Buffer.concat([
          Buffer.from([0x30, 0x80]),
          toBeSigned.subarray(contentStart(toBeSigned)),
          Buffer.alloc(2),
        ]);
    },
  },
  {
    name: 'bytes after the last field',
    apply: ({ leaf }) => {
      leaf.alter = (toBeSigned) => der.sequence(toBeSigned.subarray(contentStart(toBeSigned)), der.nothing());
    },
  },
  {
    name: 'the same extension twice',
    apply: (draft, random) => {
      const odd = random.pick(all(draft));
      addExtension(odd, '1.2.3.4.7', der.nothing(), false);
      addExtension(odd, '1.2.3.4.7', der.nothing(), false);
    },
  },
  {
    name: 'two lists of uses',
    apply: ({ leaf }) => {
      const list = (usage: string): Buffer => der.sequence(der.objectIdentifier(usage));
      delete leaf.extendedUsages;
      addExtension(leaf, '2.5.29.37', list(SERVER_AUTH), false);
      addExtension(leaf, '2.5.29.37', list('1.3.6.1.5.5.7.3.2'), false);
    },
  },
  {
    name: 'a list of uses that is none',
    apply: ({ leaf }) => {
      delete leaf.extendedUsages;
      addExtension(leaf, '2.5.29.37', der.octetString(Buffer.from('x')), false);
    },
  },
];

function contentStart(bytes: Buffer): number {
  const first = bytes.readUInt8(1);
  return first < 0x80 ? 2 : 2 + (first - 0x80);
}

export const ODDITIES: readonly Oddity[] = [...TIMES, ...PURPOSES, ...ISSUERS, ...ENCODINGS];
