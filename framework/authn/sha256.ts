import { hash } from 'node:crypto'

/** 32 bytes. */
export const sha256 = (data: string | Buffer): Buffer => hash('sha256', data, 'buffer')
