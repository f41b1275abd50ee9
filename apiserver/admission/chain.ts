import type { ApiObject } from '../../shared/meta/object';
import type { Admission, AdmissionAttributes } from '../registry/admission';

/** One admission plugin. A missing phase admits everything. */
export interface AdmissionPlugin {
  readonly name: string;
  mutate?(attributes: AdmissionAttributes, signal: AbortSignal): Promise<ApiObject | undefined>;
  validate?(attributes: AdmissionAttributes, signal: AbortSignal): Promise<void>;
}

/** Runs the plugins in order; the first one that throws refuses the request. */
export function createAdmission(plugins: readonly AdmissionPlugin[]): Admission {
  return {
    async mutate(attributes, signal) {
      let { object } = attributes;
      for (const plugin of plugins) {
        object = (await plugin.mutate?.({ ...attributes, object }, signal)) ?? object;
      }
      return object;
    },
    async validate(attributes, signal) {
      for (const plugin of plugins) await plugin.validate?.(attributes, signal);
    },
  };
}
