;; The inner loops of the resampler (see resampler.ts), eight products at a time. Everything lives in the memory that the
;; module is given; addresses are bytes. Numbers of taps and of widened samples are whole multiples of 8.
(module
  (import "kernel" "memory" (memory 1))

  ;; Makes 32-bit floats of 16-bit samples.
  (func (export "widen") (param $from i32) (param $to i32) (param $count i32)
    (local $end i32)
    (local $eight v128)
    (local.set $end (i32.add (local.get $from) (i32.shl (local.get $count) (i32.const 1))))
    (loop $more
      (local.set $eight (v128.load (local.get $from)))
      (v128.store (local.get $to)
        (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_s (local.get $eight))))
      (v128.store offset=16 (local.get $to)
        (f32x4.convert_i32x4_s (i32x4.extend_high_i16x8_s (local.get $eight))))
      (local.set $from (i32.add (local.get $from) (i32.const 16)))
      (local.set $to (i32.add (local.get $to) (i32.const 32)))
      (br_if $more (i32.lt_u (local.get $from) (local.get $end)))))

  ;; Writes $count samples to $out. $first is the address of the first input sample under the filter; a step to the next output
  ;; moves it by $skip bytes and the row by $turn, and by one sample more whenever the row passes the last of $up.
  (func (export "convert")
    (param $rows i32) (param $rowBytes i32) (param $first i32) (param $out i32) (param $count i32)
    (param $phase i32) (param $up i32) (param $skip i32) (param $turn i32)
    (local $row i32) (local $rowEnd i32) (local $at i32) (local $last i32)
    (local $a v128) (local $b v128) (local $sum i32)
    (local.set $last (i32.add (local.get $out) (i32.shl (local.get $count) (i32.const 1))))
    (loop $samples
      (local.set $row (i32.add (local.get $rows) (i32.mul (local.get $phase) (local.get $rowBytes))))
      (local.set $rowEnd (i32.add (local.get $row) (local.get $rowBytes)))
      (local.set $at (local.get $first))
      (local.set $a (v128.const f32x4 0 0 0 0))
      (local.set $b (v128.const f32x4 0 0 0 0))
      (loop $taps
        (local.set $a (f32x4.add (local.get $a)
          (f32x4.mul (v128.load (local.get $row)) (v128.load (local.get $at)))))
        (local.set $b (f32x4.add (local.get $b)
          (f32x4.mul (v128.load offset=16 (local.get $row)) (v128.load offset=16 (local.get $at)))))
        (local.set $row (i32.add (local.get $row) (i32.const 32)))
        (local.set $at (i32.add (local.get $at) (i32.const 32)))
        (br_if $taps (i32.lt_u (local.get $row) (local.get $rowEnd))))
      (local.set $a (f32x4.add (local.get $a) (local.get $b)))
      (local.set $sum
        (i32.trunc_sat_f32_s
          (f32.nearest
            (f32.add
              (f32.add (f32x4.extract_lane 0 (local.get $a)) (f32x4.extract_lane 1 (local.get $a)))
              (f32.add (f32x4.extract_lane 2 (local.get $a)) (f32x4.extract_lane 3 (local.get $a)))))))
      ;; Saturates: narrowing takes the nearest 16-bit number.
      (i32.store16 (local.get $out)
        (i16x8.extract_lane_s 0
          (i16x8.narrow_i32x4_s (i32x4.splat (local.get $sum)) (i32x4.splat (local.get $sum)))))
      (local.set $out (i32.add (local.get $out) (i32.const 2)))
      (local.set $first (i32.add (local.get $first) (local.get $skip)))
      (local.set $phase (i32.add (local.get $phase) (local.get $turn)))
      (if (i32.ge_u (local.get $phase) (local.get $up))
        (then
          (local.set $phase (i32.sub (local.get $phase) (local.get $up)))
          (local.set $first (i32.add (local.get $first) (i32.const 4)))))
      (br_if $samples (i32.lt_u (local.get $out) (local.get $last))))))
