import type { Metrics } from '../../framework/metrics/metrics.ts'

/** The metrics of the processes of isolated views. */
export interface ProcessMeters {
  /** A process of the view has started. */
  started(view: string): void
  /** `memory`: the bytes of its process. */
  observe(view: string, memory: () => number): void
}

export function createProcessMeters(metrics: Metrics): ProcessMeters {
  const memory = new Map<string, () => number>()
  const starts = metrics.meter({
    kind: 'counter',
    name: 'oriel_view_process_starts_total',
    help: 'Starts of the process of an isolated view.',
    labels: ['view'],
  })
  metrics.meter({
    kind: 'gauge',
    name: 'oriel_view_process_resident_memory_bytes',
    help: 'Resident memory of the process of an isolated view.',
    labels: ['view'],
    collect: set => {
      for (const [view, bytes] of memory) set({ view }, bytes())
    },
  })
  return {
    started: view => starts({ view }, 1),
    observe: (view, bytes) => void memory.set(view, bytes),
  }
}
