import type { Int64 } from '../object/values';
import type { DefaultsTable, MessageDefaults } from './contract';

const EXACT = 'ExactCount';

interface Amount {
  readonly allocationMode?: string;
  readonly count?: Int64;
}

/** One device, unless the request says otherwise. */
const amount: MessageDefaults<Amount> = {
  values: { allocationMode: EXACT },
  derive: ({ allocationMode, count = 0 }) =>
    allocationMode === EXACT && Number(count) === 0 ? { count: 1 } : undefined,
};

const toleration = { values: { operator: 'Equal' } } as const;
const mapping = { values: { allocationMultiplier: '1' } } as const;

export const RESOURCE: DefaultsTable = {
  'resource/v1.DeviceSubRequest': amount,
  'resource/v1.ExactDeviceRequest': amount,
  'resource/v1.DeviceToleration': toleration,
  'resource/v1.NodeAllocatableResourceMapping': mapping,
  'resource/v1alpha3.ResourcePoolStatusRequestSpec': { values: { limit: 100 } },
  // A request with alternatives has no amount of its own.
  'resource/v1beta1.DeviceRequest': {
    derive: (request) => {
      if (request.deviceClassName === '') return undefined;
      const { allocationMode: mode = '', count = 0 } = request;
      const allocationMode = mode === '' ? EXACT : mode;
      return {
        allocationMode,
        ...(allocationMode === EXACT && Number(count) === 0 ? { count: 1 } : {}),
      };
    },
  },
  'resource/v1beta1.DeviceSubRequest': amount,
  'resource/v1beta1.DeviceToleration': toleration,
  'resource/v1beta1.NodeAllocatableResourceMapping': mapping,
  'resource/v1beta2.DeviceSubRequest': amount,
  'resource/v1beta2.ExactDeviceRequest': amount,
  'resource/v1beta2.DeviceToleration': toleration,
  'resource/v1beta2.NodeAllocatableResourceMapping': mapping,
};
