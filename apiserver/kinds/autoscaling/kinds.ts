import { GROUP } from '../../../shared/names';
import { horizontalPodAutoscalerRow } from './columns';
import { autoscalerRules } from './horizontal-pod-autoscalers-rules';
import type { KindGroup } from '../kind';

export const autoscaling: KindGroup = {
  group: GROUP.autoscaling,
  kinds: {
    horizontalpodautoscalers: { strategy: autoscalerRules, row: horizontalPodAutoscalerRow },
  },
};
