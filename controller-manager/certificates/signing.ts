import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { SigningAuthority } from '../../shared/certs/sign-certificate-request';
import { signingAuthorityOf } from '../../shared/certs/sign-certificate-request';
import type { Log } from '../../shared/log/log';
import { SIGNER } from '../../shared/names';
import type { AuthorityFiles, Signing } from '../runtime/controller-options';

/** Thrown when the files of an authority cannot be used. */
export class SigningFilesError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'SigningFilesError';
  }
}

/** The signing flags: general files, or files for each signer. */
export interface SigningFlags {
  readonly clusterSigningCertFile: string;
  readonly clusterSigningKeyFile: string;
  readonly clusterSigningDurationMs: number;
  /** The deprecated flag of the duration; 0 if absent. */
  readonly experimentalClusterSigningDurationMs: number;
  readonly clusterSigningKubeApiserverClientCertFile: string;
  readonly clusterSigningKubeApiserverClientKeyFile: string;
  readonly clusterSigningKubeletClientCertFile: string;
  readonly clusterSigningKubeletClientKeyFile: string;
  readonly clusterSigningKubeletServingCertFile: string;
  readonly clusterSigningKubeletServingKeyFile: string;
  readonly clusterSigningLegacyUnknownCertFile: string;
  readonly clusterSigningLegacyUnknownKeyFile: string;
}

interface Pair {
  readonly flag: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** Returns the problems of the flag values, before any file is read. */
export function signingProblems(flags: SigningFlags): readonly string[] {
  const own = ownPairs(flags).map(([, pair]) => pair);
  const common = commonPair(flags);
  return [
    ...[common, ...own]
      .filter(({ certFile, keyFile }) => (certFile === '') !== (keyFile === ''))
      .map(({ flag }) => `--${flag}-cert-file and --${flag}-key-file must be given together`),
    ...(isGiven(common) && own.some(isGiven)
      ? ['--cluster-signing-cert-file is for all signers: files for one of them cannot stand beside it']
      : []),
    ...(lifetimeOf(flags) > 0 ? [] : ['--cluster-signing-duration must be more than 0']),
  ];
}

/** Reads the files for the first time. Returns undefined if no flag names any; throws SigningFilesError. */
export function openSigning(flags: SigningFlags, log: Log): Signing | undefined {
  const own = ownPairs(flags);
  const common = commonPair(flags);
  if (!isGiven(common) && !own.some(([, pair]) => isGiven(pair))) return undefined;
  const shared = isGiven(common) ? openAuthority(common, log) : undefined;
  const authorities = new Map(
    own.flatMap(([signer, pair]) => {
      const authority = shared ?? (isGiven(pair) ? openAuthority(pair, log) : undefined);
      return authority === undefined ? [] : [[signer, authority] as const];
    }),
  );
  return { authorityOf: (signer) => authorities.get(signer), lifetimeMs: lifetimeOf(flags) };
}

function commonPair(flags: SigningFlags): Pair {
  return {
    flag: 'cluster-signing',
    certFile: flags.clusterSigningCertFile,
    keyFile: flags.clusterSigningKeyFile,
  };
}

function ownPairs(flags: SigningFlags): readonly (readonly [signer: string, pair: Pair])[] {
  const pair = (flag: string, certFile: string, keyFile: string): Pair => ({
    flag: `cluster-signing-${flag}`,
    certFile,
    keyFile,
  });
  return [
    [
      SIGNER.apiServerClient,
      pair(
        'kube-apiserver-client',
        flags.clusterSigningKubeApiserverClientCertFile,
        flags.clusterSigningKubeApiserverClientKeyFile,
      ),
    ],
    [
      SIGNER.apiServerClientNodeAgent,
      pair(
        'kubelet-client',
        flags.clusterSigningKubeletClientCertFile,
        flags.clusterSigningKubeletClientKeyFile,
      ),
    ],
    [
      SIGNER.nodeAgentServing,
      pair(
        'kubelet-serving',
        flags.clusterSigningKubeletServingCertFile,
        flags.clusterSigningKubeletServingKeyFile,
      ),
    ],
    [
      SIGNER.legacyUnknown,
      pair(
        'legacy-unknown',
        flags.clusterSigningLegacyUnknownCertFile,
        flags.clusterSigningLegacyUnknownKeyFile,
      ),
    ],
  ];
}

function isGiven({ certFile, keyFile }: Pair): boolean {
  return certFile !== '' || keyFile !== '';
}

function lifetimeOf(flags: SigningFlags): number {
  return flags.experimentalClusterSigningDurationMs > 0
    ? flags.experimentalClusterSigningDurationMs
    : flags.clusterSigningDurationMs;
}

interface Texts {
  readonly certificate: string;
  readonly key: string;
}

/** The files are read before each signature, so a replaced authority never signs again. */
function openAuthority({ flag, certFile, keyFile }: Pair, log: Log): AuthorityFiles {
  let known: Texts;
  let authority: SigningAuthority;
  try {
    known = { certificate: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
    authority = signingAuthorityOf(known.certificate, known.key);
  } catch (error) {
    throw new SigningFilesError(`--${flag}-cert-file ${certFile}: ${messageOf(error)}`, error);
  }
  const current = async (): Promise<SigningAuthority> => {
    try {
      const [certificate, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
      if (certificate !== known.certificate || key !== known.key) {
        authority = signingAuthorityOf(certificate, key);
        known = { certificate, key };
        log.info({ file: certFile }, 'signing CA reloaded');
      }
    } catch (error) {
      log.warn(
        { file: certFile, error: messageOf(error) },
        'failed to reload the signing CA; the old one stays in use',
      );
    }
    return authority;
  };
  return { current };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
