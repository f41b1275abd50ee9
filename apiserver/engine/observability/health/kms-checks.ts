import type { Clock } from '../../../../shared/concurrency/clock';
import type { KmsService } from '../../storage/decorators/encryption/kms-service';
import type { HealthCheck } from './health-check';
import { HEALTH_PATHS } from './health-check';

/** How long a result is cached: each run calls the plugin, and its key management service may charge for calls. */
const GOOD_MS = 20_000;
const BAD_MS = 3_000;
const PROBE = Buffer.from('ping');

/**
 * Creates a check for each key management service: it encrypts, and decrypts the result. They are numbered in the
 * order of the configuration.
 */
export function kmsChecks(
  services: readonly { readonly name: string; readonly service: KmsService }[],
  clock: Clock,
): readonly HealthCheck[] {
  return services.map(({ name, service }, index) => {
    let last: { readonly problem: string | undefined; readonly until: number } | undefined;
    let running: Promise<string | undefined> | undefined;
    const run = async (): Promise<string | undefined> => {
      const problem = await problemOf(name, service);
      last = { problem, until: clock.now() + (problem === undefined ? GOOD_MS : BAD_MS) };
      return problem;
    };
    return {
      name: `kms-provider-${String(index)}`,
      paths: HEALTH_PATHS,
      check: async () => {
        if (last !== undefined && clock.now() < last.until) return last.problem;
        running ??= run().finally(() => {
          running = undefined;
        });
        return running;
      },
    };
  });
}

async function problemOf(name: string, service: KmsService): Promise<string | undefined> {
  let step = 'encrypt';
  try {
    const encrypted = await service.encrypt(PROBE);
    step = 'decrypt';
    await service.decrypt(encrypted);
    return undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `failed to perform ${step} section of the healthz check for KMS Provider ${name}, error: ${why}`;
  }
}
