import type { Command } from 'commander'

/** As in kube-apiserver. */
export interface TracingFlags {
  readonly tracingConfigFile?: string
}

/** Adds the flag to a command. */
export const addTracingFlags = (command: Command): Command =>
  command
    .optionsGroup('Tracing:')
    .option(
      '--tracing-config-file <path>',
      'TracingConfiguration file with the OTLP/HTTP receiver of traces (default: no traces)',
    )
