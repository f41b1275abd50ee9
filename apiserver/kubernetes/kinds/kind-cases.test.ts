import { admissionregistrationCases } from '../../testing/kinds/cases/admissionregistration';
import { apiextensionsCases } from '../../testing/kinds/cases/apiextensions';
import { apiextensionsV1beta1Cases } from '../../testing/kinds/cases/apiextensions-v1beta1';
import { apiregistrationCases } from '../../testing/kinds/cases/apiregistration';
import { autoscalingCases } from '../../testing/kinds/cases/autoscaling';
import { certificatesCases } from '../../testing/kinds/cases/certificates';
import { coordinationCases } from '../../testing/kinds/cases/coordination';
import { coreCases } from '../../testing/kinds/cases/core';
import { coreVolumesCases } from '../../testing/kinds/cases/core-volumes';
import { coreEventsCases } from '../../testing/kinds/cases/core-events';
import { discoveryCases } from '../../testing/kinds/cases/discovery';
import { flowcontrolCases } from '../../testing/kinds/cases/flowcontrol';
import { networkingCases } from '../../testing/kinds/cases/networking';
import { nodeCases } from '../../testing/kinds/cases/node';
import { policyCases } from '../../testing/kinds/cases/policy';
import { rbacCases } from '../../testing/kinds/cases/rbac';
import { schedulingCases } from '../../testing/kinds/cases/scheduling';
import { storageCases } from '../../testing/kinds/cases/storage';
import { describeKindCases } from '../../testing/kinds/describe-kind-cases';
import type { KindCases } from '../../testing/kinds/kind-cases';

const CASES: readonly KindCases[] = [
  ...admissionregistrationCases,
  ...apiextensionsCases,
  ...apiextensionsV1beta1Cases,
  ...apiregistrationCases,
  ...autoscalingCases,
  ...certificatesCases,
  ...coordinationCases,
  ...coreCases,
  ...coreVolumesCases,
  ...coreEventsCases,
  ...discoveryCases,
  ...flowcontrolCases,
  ...networkingCases,
  ...nodeCases,
  ...policyCases,
  ...rbacCases,
  ...schedulingCases,
  ...storageCases,
];

describeKindCases(CASES);
