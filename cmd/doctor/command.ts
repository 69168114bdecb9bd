import { type Command, Option } from 'commander'
import { addConnectionFlags } from '../flags/connection.ts'
import { flagsBelongTogether } from '../flags/rules.ts'
import type { DoctorOptions } from './index.ts'

/** `oriel doctor`. */
export const doctorCommand = (command: Command): Command =>
  flagsBelongTogether(addDoctorFlags(command), '--client-cert-file', '--client-key-file').action(
    async (options: DoctorOptions) => {
      const { doctor } = await import('./index.ts')
      process.exitCode = await doctor(options)
    },
  )

const addDoctorFlags = (command: Command): Command =>
  addConnectionFlags(command)
    .description('Check the connection between clients, shards and views, and print what to change.')
    .option(
      '--client-cert-file <path>',
      'PEM file of the client certificate with which a front proxy or shard connects to the views',
    )
    .option('--client-key-file <path>', 'PEM file of its private key')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text'))
