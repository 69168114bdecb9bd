import { type Command, Option } from 'commander'
import { connectionFlags } from '../flags/connection.ts'
import type { DoctorOptions } from './index.ts'

/** `oriel doctor`. */
export const doctorCommand = (command: Command): Command =>
  connectionFlags(command)
    .description('look for what usually goes wrong between clients, shards and views, and say what to change')
    .option('--client-cert-file <path>', 'with which a front proxy or shard vouches for users at the views')
    .option('--client-key-file <path>', 'its key')
    .addOption(new Option('-o, --output <format>').choices(['text', 'json']).default('text'))
    .action(async (options: DoctorOptions) => {
      const { doctor } = await import('./index.ts')
      process.exitCode = await doctor(options)
    })
