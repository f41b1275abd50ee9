import type { Backend } from '../../backend';
import { aesCbc, aesGcm } from './aes';
import { EncryptedBackend } from './encrypted-backend';
import type { CipherName, EncryptionRules, KmsRules, ProviderRules } from './encryption-rules';
import { createEnvelope } from './envelope';
import type { KmsService } from './kms-service';
import { createKmsService } from './kms-service';
import type { Sealer } from './sealer';
import { IDENTITY, sealedPrefix } from './sealer';
import { secretbox } from './secretbox';
import { TransformationCounts } from './transformation-counts';

export interface Encrypted {
  readonly backend: Backend;
  /** The KMS services, in the order of the configuration. */
  readonly services: readonly { readonly name: string; readonly service: KmsService }[];
  readonly counts: TransformationCounts;
}

/** Wraps the store in the encryption decorator. Closing the result closes the store as well. */
export function encrypt(backend: Backend, rules: EncryptionRules, prefix: string): Encrypted {
  const services = new Map<KmsRules, KmsService>(
    rules.services.map((each) => [each, createKmsService(each)]),
  );
  // A provider that several resources share has one cache of data keys.
  const made = new Map<ProviderRules, readonly Sealer[]>();
  const sealersOf = (provider: ProviderRules): readonly Sealer[] => {
    const sealers = made.get(provider) ?? newSealers(provider, services);
    made.set(provider, sealers);
    return sealers;
  };
  const sealers = new Map(
    Array.from(rules.resources, ([keyPrefix, providers]) => [keyPrefix, providers.flatMap(sealersOf)]),
  );
  const counts = new TransformationCounts();
  return {
    backend: new EncryptedBackend({ backend, prefix, sealers, counts }),
    counts,
    services: Array.from(services, ([{ name }, service]) => ({ name, service })),
  };
}

const CIPHERS = { aescbc: aesCbc, aesgcm: aesGcm, secretbox } as const satisfies Readonly<
  Record<CipherName, unknown>
>;

function newSealers(provider: ProviderRules, services: ReadonlyMap<KmsRules, KmsService>): readonly Sealer[] {
  if (provider.kind === 'identity') return [IDENTITY];
  if (provider.kind !== 'kms') {
    const { kind, keys } = provider;
    return keys.map(({ name, secret }) => ({
      prefix: sealedPrefix(kind, name),
      ...CIPHERS[kind](secret),
    }));
  }
  const service = services.get(provider) ?? createKmsService(provider);
  return [createEnvelope({ name: provider.name, service, cacheSize: provider.cacheSize })];
}
