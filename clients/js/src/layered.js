// doc/format.md, "5: layeredfilter".
import { ForgottenError } from './errors.js';

/** @typedef {import('./u64.js').U64} U64 */

/** a / b, rounded down. @param {bigint} a @param {bigint} b positive */
function floorDiv(a, b) {
  const quotient = a / b;
  return a % b < 0n ? quotient - 1n : quotient;
}

export class Layers {
  /**
   * @param {{ span: bigint, bits: import('./bits.js').Blocks }[]} layers ascending
   * @param {{ span: bigint, most: bigint, forgotten: bigint | undefined }} times
   */
  constructor(layers, { span, most, forgotten }) {
    this.layers = layers;
    this.span = span;
    this.most = most;
    this.forgotten = forgotten;
  }

  /**
   * @param {U64} hash
   * @param {bigint} time microseconds since 2000-01-01 00:00 UTC
   * @param {boolean} atLeastNewest a time before the newest span stands for that
   */
  has(hash, time, atLeastNewest) {
    let now = floorDiv(time, this.span);
    const newest = this.layers.at(-1)?.span;
    if (atLeastNewest && newest !== undefined && newest > now) now = newest;
    for (const { span, bits } of this.layers) {
      if (span <= now && now - span < this.most && bits.has(hash)) return true;
    }
    if (this.forgotten !== undefined && now - this.forgotten < this.most) {
      throw new ForgottenError('layers that were alive then have been dropped: the answer is not certain');
    }
    return false;
  }
}
