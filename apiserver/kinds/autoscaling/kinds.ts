import { horizontalPodAutoscalerTable } from './columns';
import { autoscalerRules } from './horizontal-pod-autoscalers-rules';
import { kindsOf } from '../kind';

export const autoscaling = kindsOf('autoscaling', {
  horizontalpodautoscalers: {
    strategy: { metadataChecks: 'old names', ...autoscalerRules },
    table: horizontalPodAutoscalerTable,
  },
});
