import type { KeyObject } from 'node:crypto';
import { generateKeyPairSync } from 'node:crypto';
import * as der from '../der';
import type { ChainDraft } from './chain-oddities';
import { ODDITIES } from './chain-oddities';
import type { Random } from '../../testing/random';
import type { RawCertificate, TestCertificateOptions, TestIssuer } from './test-certificates';
import { ANY_USAGE, CLIENT_AUTH, rawCertificate, SERVER_AUTH } from './test-certificates';

/** A certificate of a client, what it sends along, and what is trusted: bytes that may be odd in some way. */
export interface RandomChain {
  /** Names the oddities and the number of authorities. */
  readonly title: string;
  /** Names of `ODDITIES`; empty for a chain that is good by every rule. */
  readonly oddities: readonly string[];
  readonly leaf: Buffer;
  readonly sent: readonly Buffer[];
  readonly trusted: readonly Buffer[];
}

export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** Keys take long to make, so that a few of each kind have to do for all chains. */
export function newKeyPool(): readonly KeyPair[] {
  const rsa = (modulusLength: number): KeyPair => generateKeyPairSync('rsa', { modulusLength });
  const ec = (namedCurve: string): KeyPair => generateKeyPairSync('ec', { namedCurve });
  const several = (make: () => KeyPair): KeyPair[] => Array.from({ length: 4 }, make);
  return [
    ...several(() => rsa(2_048)),
    ...['P-256', 'P-384', 'P-521'].flatMap((curve) => several(() => ec(curve))),
    ...several(() => generateKeyPairSync('ed25519')),
  ];
}

export interface ChainsOptions {
  readonly random: Random;
  readonly keys: readonly KeyPair[];
  /** At this time a chain without oddities is good. */
  readonly now: number;
}

const AUTHORITIES_MAX = 4;
const DAY_MS = 86_400_000;

/** The chain with this number: names are different in all chains, so that one verifier can get many at once. */
export function randomChain(number: number, { random, keys, now }: ChainsOptions): RandomChain {
  const depth = 1 + random.below(AUTHORITIES_MAX);
  const authorities = Array.from({ length: depth }, (_, level) =>
    goodAuthority(`authority ${String(number)}.${String(level)}`, level, { random, keys, now }),
  );
  const draft: ChainDraft = {
    leaf: goodLeaf(`client ${String(number)}`, { random, keys, now }),
    authorities,
    anchor: depth - 1,
    alterSent: [],
    keys,
    stranger: random.pick(keys),
    now,
  };
  // The first oddity goes round, so that each has its turn.
  const first = ODDITIES[number % ODDITIES.length];
  const wanted = random.chance(0.1)
    ? []
    : [...(first === undefined ? [] : [first]), ...(random.chance(0.3) ? [random.pick(ODDITIES)] : [])];
  const oddities = [...new Set(wanted)].filter(({ fits }) => fits?.(draft) !== false);
  for (const { apply } of oddities) apply(draft, random);
  const names = oddities.map(({ name }) => name);
  return {
    title: `${String(number)}: ${names.join(' + ') || 'nothing odd'}, ${String(depth)} authorities`,
    oddities: names,
    ...made(draft, random),
  };
}

function goodAuthority(commonName: string, level: number, options: ChainsOptions): TestCertificateOptions {
  const { random, keys } = options;
  return {
    commonName,
    keys: random.pick(keys),
    authority: random.chance(0.4) ? { pathLength: level + random.below(2) } : {},
    ...(random.chance(0.6) ? { keyUsage: random.chance(0.5) ? [5] : [0, 5, 6] } : {}),
    ...(random.chance(0.3) ? { extendedUsages: [CLIENT_AUTH, SERVER_AUTH] } : {}),
    ...times(options),
  };
}

function goodLeaf(commonName: string, options: ChainsOptions): TestCertificateOptions {
  const { random, keys } = options;
  const usages = random.pick<readonly string[]>([
    [],
    [CLIENT_AUTH],
    [SERVER_AUTH, CLIENT_AUTH],
    [CLIENT_AUTH, ANY_USAGE],
  ]);
  return {
    commonName,
    organizations: random.chance(0.5) ? ['devs'] : [],
    keys: random.pick(keys),
    ...(random.chance(0.6) ? { keyUsage: random.chance(0.5) ? [0] : [0, 2] } : {}),
    ...(usages.length === 0 ? {} : { extendedUsages: usages }),
    // A name for every kind of limits on names.
    extensions: [
      [
        '2.5.29.17',
        der.sequence(
          der.implicit(1, Buffer.from('a@b.example')),
          der.implicit(2, Buffer.from('a.b.example')),
          der.implicit(6, Buffer.from('https://a.b.example/')),
          der.implicit(7, Buffer.from([10, 0, 0, 1])),
        ),
        false,
      ],
      ...(random.chance(0.2) ? [['1.2.3.4.5', der.nothing(), false] as const] : []),
    ],
    ...times(options),
  };
}

function times({ random, now }: ChainsOptions): Pick<TestCertificateOptions, 'notBeforeMs' | 'notAfterMs'> {
  return {
    notBeforeMs: now - DAY_MS * (1 + random.below(9_000)),
    notAfterMs: now + DAY_MS * (1 + random.below(18_000)),
  };
}

/** Signs from the top down. */
function made(draft: ChainDraft, random: Random): Pick<RandomChain, 'leaf' | 'sent' | 'trusted'> {
  const { leaf, authorities, anchor, alterSent, stranger } = draft;
  const signed: RawCertificate[] = [];
  for (const options of authorities.toReversed()) {
    signed.unshift(rawCertificate({ ...under(signed[0]), ...options }));
  }
  const [issuer] = signed;
  const above =
    issuer === undefined || draft.isAlone === true
      ? {}
      : under({ ...issuer, subject: draft.issuerName ?? issuer.subject });
  const own = rawCertificate({ ...above, ...leaf });
  const astray = {
    ...authorities.at(-1),
    commonName: `stranger to ${leaf.commonName ?? ''}`,
    keys: stranger,
  };
  const trusted =
    draft.isAstray === true
      ? [rawCertificate(astray)]
      : anchor < 0
        ? [own]
        : signed.slice(anchor, anchor + 1);
  // A root may be sent along, and need not be.
  const sent = signed.filter((_, level) => level !== anchor || random.chance(0.2));
  const altered = alterSent.reduce<readonly RawCertificate[]>((chain, alter) => alter(chain), sent);
  return {
    leaf: draft.isChanged === true ? changed(own.der) : own.der,
    sent: random.shuffled(altered).map((each) => each.der),
    trusted: trusted.map((each) => each.der),
  };
}

/** With one bit of the name changed, which stands in the middle. */
function changed(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const at = copy.lastIndexOf('client');
  copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
  return copy;
}

function under(issuer: TestIssuer | undefined): Pick<TestCertificateOptions, 'issuer'> {
  return issuer === undefined ? {} : { issuer };
}
