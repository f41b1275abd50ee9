import { X509Certificate } from 'node:crypto';
import { ODDITIES } from '../testing/chain-oddities';
import { opensslResults } from '../testing/openssl-verify';
import { seededRandom } from '../../testing/random';
import type { RandomChain } from '../testing/random-chains';
import { newKeyPool, randomChain } from '../testing/random-chains';
import type { Certificate } from './certificate';
import { certificateOf } from './certificate';
import { verifyChain } from './chain';

/** Chains of all kinds, good and bad, verified by us and by OpenSSL, which know nothing of each other's rules. */

const CHAINS = 1_200;
const SEED = 20_301;
const TIMES_EACH = 5;
const now = Date.UTC(2030, 0, 1);

interface Difference {
  readonly oddities: readonly string[];
  /** What the stricter one says. */
  readonly reason: RegExp;
  readonly because: string;
}

const OURS_IS_STRICTER: readonly Difference[] = [
  {
    oddities: ['critical limits on policies', 'critical limits on directory names'],
    reason: /unhandled critical extension/,
    because: 'a critical extension that is not supported is refused, as in Go',
  },
  {
    oddities: ['the name of the issuer in another kind of string'],
    reason: /unknown authority/,
    because: 'Go compares the bytes of names; OpenSSL compares their texts',
  },
  {
    oddities: ['the same extension twice'],
    reason: /duplicate extensions/,
    because: 'Go refuses to parse a certificate with an extension that is there twice',
  },
  {
    oddities: ['an issuer that does not say whether it is an authority'],
    reason: /parent certificate cannot sign/,
    because: 'Go wants basic constraints in an issuer of version 3; OpenSSL is content with a key usage',
  },
  {
    oddities: ['a key of an unusual curve', 'a short RSA key'],
    reason: /a key type or size that is not accepted/,
    because: 'Go knows four curves; RSA keys below 1024 bits can be broken',
  },
  {
    oddities: ['signed with SHA-1'],
    reason: /unknown authority/,
    because: 'Go takes no signature over SHA-1 since 1.18',
  },
  {
    oddities: ['an indefinite length', 'a length in more bytes than it needs'],
    reason: /bad length/,
    because: 'Go reads DER only; OpenSSL reads BER',
  },
  {
    oddities: [
      'what is not needed and cannot be read is sent along',
      'fractions of seconds',
      'times without seconds',
      'times with an offset',
      'times that are none',
      'a negative path length',
    ],
    reason: /malformed/,
    because: 'what is sent along has to be readable to the last certificate, as for Go, needed or not',
  },
];

const OPENSSL_IS_STRICTER: readonly Difference[] = [
  {
    oddities: ['limits on directory names'],
    reason: /permitted subtree violation/,
    because: 'Go ignores limits on directory names that are not critical',
  },
  {
    oddities: ['an identifier of another key for the issuer'],
    reason: /unable to get/,
    because: 'Go tries every issuer of the name; identifiers of keys only decide the order',
  },
  {
    oddities: ['a client named like its issuer'],
    reason: /self-signed certificate|certificate signature failure|unable to/,
    because:
      'OpenSSL considers a certificate with the same subject and issuer as self-signed; Go verifies signatures',
  },
  {
    oddities: ['for any use, by that name'],
    reason: /unsuitable certificate purpose/,
    because: 'anyExtendedKeyUsage stands for every use in Go (checkChainForKeyUsage)',
  },
  {
    oddities: ['a client whose key may only encipher'],
    reason: /unsuitable certificate purpose/,
    because: 'Go asks for the key usage of issuers only (CheckSignatureFrom); TLS proves that the key signs',
  },
  {
    oddities: ['a critical identifier of the key'],
    reason: /unhandled critical extension/,
    because: 'Go knows the extension; it says nothing about trust',
  },
  {
    oddities: [
      'another authority of the same name is sent first',
      'another authority has signed the same intermediate',
    ],
    reason: /self-signed certificate in certificate chain|certificate signature failure|unable to get/,
    because: 'Go tries all issuers of a name (buildChains); OpenSSL goes on with the first that fits',
  },
  {
    oddities: ['the client itself is trusted'],
    reason: /at [1-9] depth lookup|subtree violation/,
    because:
      'Go asks no further about what stands among the authorities itself; OpenSSL looks at what is sent',
  },
];

const random = seededRandom(SEED);
const keys = newKeyPool();
const chains = Array.from({ length: CHAINS }, (_, number) => randomChain(number, { random, keys, now }));
const results = opensslResults(chains, now);
let outcomes: readonly Outcome[] = [];
beforeAll(async () => {
  outcomes = await Promise.all(
    chains.map(async (chain, number) => {
      const [ours, openssl] = [await ownResult(chain), results[number] ?? ''];
      return { ...chain, ours, openssl, text: `${chain.title}: ours ${ours}, openssl ${openssl}` };
    }),
  );
});

interface Outcome extends RandomChain {
  readonly ours: string;
  readonly openssl: string;
  readonly text: string;
}

async function ownResult({ leaf, sent, trusted }: RandomChain): Promise<string> {
  try {
    const result = await verifyChain({
      certificate: read(leaf),
      intermediates: sent.map(read),
      anchors: trusted.map(read),
      now,
    });
    return result.isTrusted ? 'trusted' : result.why;
  } catch (error) {
    return `malformed: ${String(error)}`;
  }
}

function read(bytes: Buffer): Certificate {
  return certificateOf(new X509Certificate(bytes));
}

function isExplained(
  oddities: readonly string[],
  reason: string,
  differences: readonly Difference[],
): boolean {
  return differences.some(
    (each) => each.reason.test(reason) && each.oddities.some((oddity) => oddities.includes(oddity)),
  );
}

test('what OpenSSL refuses is refused, but where Go has a reason to trust it', () => {
  const lax = outcomes.filter(({ ours, openssl }) => ours === 'trusted' && openssl !== 'trusted');
  const bare = lax.filter(({ oddities, openssl }) => !isExplained(oddities, openssl, OPENSSL_IS_STRICTER));
  expect(bare.map(({ text }) => text)).toEqual([]);
});

test('what OpenSSL trusts is trusted, but where there is a reason to be stricter', () => {
  const strict = outcomes.filter(({ ours, openssl }) => ours !== 'trusted' && openssl === 'trusted');
  const bare = strict.filter(({ oddities, ours }) => !isExplained(oddities, ours, OURS_IS_STRICTER));
  expect(bare.map(({ text }) => text)).toEqual([]);
});

test.each(OURS_IS_STRICTER)('ours is stricter with $oddities: $because', (difference) => {
  const alone = outcomesOf(difference.oddities);
  expect(alone.filter(({ ours }) => ours === 'trusted').map(({ text }) => text)).toEqual([]);
  const strict = outcomes.filter(({ oddities, ours }) => isExplained(oddities, ours, [difference]));
  expect(strict.filter(({ openssl }) => openssl === 'trusted')).not.toEqual([]);
});

test.each(OPENSSL_IS_STRICTER)('OpenSSL is stricter with $oddities: $because', (difference) => {
  const alone = outcomesOf(difference.oddities);
  expect(alone.filter(({ ours }) => ours !== 'trusted').map(({ text }) => text)).toEqual([]);
  const strict = outcomes.filter(({ oddities, openssl }) => isExplained(oddities, openssl, [difference]));
  expect(strict.filter(({ ours }) => ours === 'trusted')).not.toEqual([]);
});

test('every oddity is tried several times by itself, and a good part of all chains is trusted', () => {
  expect(ODDITIES.map(({ name }) => name).filter((name) => outcomesOf([name]).length < TIMES_EACH)).toEqual(
    [],
  );
  const trusted = outcomes.filter(({ ours }) => ours === 'trusted').length;
  expect(trusted).toBeGreaterThan(CHAINS / 4);
  expect(trusted).toBeLessThan((CHAINS * 3) / 4);
  expect(outcomes.filter(({ oddities, ours }) => oddities.length === 0 && ours !== 'trusted')).toEqual([]);
});

/** Of the chains that have only this about them. */
function outcomesOf(names: readonly string[]): readonly Outcome[] {
  return outcomes.filter(({ oddities }) => oddities.length === 1 && names.includes(oddities[0] ?? ''));
}
