;; The inner loops of a look for echo (see kernel.ts), four 32-bit floats at a time. Addresses and lengths are bytes; lengths are
;; whole multiples of 16. Everything lives in the memory that the module is given.
(module
  (import "kernel" "memory" (memory 1))

  ;; One stage of the forward transform: sums and turned differences of values that lie $half apart.
  (func (export "part")
    (param $re i32) (param $im i32) (param $length i32) (param $cos i32) (param $sin i32) (param $half i32)
    (local $at i32) (local $turn i32) (local $a i32) (local $b i32)
    (local $xr v128) (local $xi v128) (local $yr v128) (local $yi v128) (local $c v128) (local $s v128)
    (loop $blocks
      (local.set $turn (i32.const 0))
      (loop $four
        (local.set $a (i32.add (local.get $re) (local.get $at)))
        (local.set $b (i32.add (local.get $im) (local.get $at)))
        (local.set $xr (v128.load (local.get $a)))
        (local.set $xi (v128.load (local.get $b)))
        (local.set $yr (v128.load (i32.add (local.get $a) (local.get $half))))
        (local.set $yi (v128.load (i32.add (local.get $b) (local.get $half))))
        (local.set $c (v128.load (i32.add (local.get $cos) (local.get $turn))))
        (local.set $s (v128.load (i32.add (local.get $sin) (local.get $turn))))
        (v128.store (local.get $a) (f32x4.add (local.get $xr) (local.get $yr)))
        (v128.store (local.get $b) (f32x4.add (local.get $xi) (local.get $yi)))
        (local.set $xr (f32x4.sub (local.get $xr) (local.get $yr)))
        (local.set $xi (f32x4.sub (local.get $xi) (local.get $yi)))
        (v128.store (i32.add (local.get $a) (local.get $half))
          (f32x4.add (f32x4.mul (local.get $xr) (local.get $c)) (f32x4.mul (local.get $xi) (local.get $s))))
        (v128.store (i32.add (local.get $b) (local.get $half))
          (f32x4.sub (f32x4.mul (local.get $xi) (local.get $c)) (f32x4.mul (local.get $xr) (local.get $s))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (local.set $turn (i32.add (local.get $turn) (i32.const 16)))
        (br_if $four (i32.lt_u (local.get $turn) (local.get $half))))
      (local.set $at (i32.add (local.get $at) (local.get $half)))
      (br_if $blocks (i32.lt_u (local.get $at) (local.get $length)))))

  ;; One stage of the way back.
  (func (export "join")
    (param $re i32) (param $im i32) (param $length i32) (param $cos i32) (param $sin i32) (param $half i32)
    (local $at i32) (local $turn i32) (local $a i32) (local $b i32)
    (local $xr v128) (local $xi v128) (local $yr v128) (local $yi v128)
    (local $c v128) (local $s v128) (local $tr v128) (local $ti v128)
    (loop $blocks
      (local.set $turn (i32.const 0))
      (loop $four
        (local.set $a (i32.add (local.get $re) (local.get $at)))
        (local.set $b (i32.add (local.get $im) (local.get $at)))
        (local.set $xr (v128.load (local.get $a)))
        (local.set $xi (v128.load (local.get $b)))
        (local.set $yr (v128.load (i32.add (local.get $a) (local.get $half))))
        (local.set $yi (v128.load (i32.add (local.get $b) (local.get $half))))
        (local.set $c (v128.load (i32.add (local.get $cos) (local.get $turn))))
        (local.set $s (v128.load (i32.add (local.get $sin) (local.get $turn))))
        (local.set $tr
          (f32x4.sub (f32x4.mul (local.get $yr) (local.get $c)) (f32x4.mul (local.get $yi) (local.get $s))))
        (local.set $ti
          (f32x4.add (f32x4.mul (local.get $yr) (local.get $s)) (f32x4.mul (local.get $yi) (local.get $c))))
        (v128.store (local.get $a) (f32x4.add (local.get $xr) (local.get $tr)))
        (v128.store (local.get $b) (f32x4.add (local.get $xi) (local.get $ti)))
        (v128.store (i32.add (local.get $a) (local.get $half)) (f32x4.sub (local.get $xr) (local.get $tr)))
        (v128.store (i32.add (local.get $b) (local.get $half)) (f32x4.sub (local.get $xi) (local.get $ti)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (local.set $turn (i32.add (local.get $turn) (i32.const 16)))
        (br_if $four (i32.lt_u (local.get $turn) (local.get $half))))
      (local.set $at (i32.add (local.get $at) (local.get $half)))
      (br_if $blocks (i32.lt_u (local.get $at) (local.get $length)))))

  ;; The last two stages of the forward transform: every group of four values by itself.
  (func (export "partLast") (param $re i32) (param $im i32) (param $length i32)
    (local $end i32) (local $r v128) (local $i v128) (local $or v128) (local $oi v128) (local $sign v128)
    (local.set $sign (v128.const f32x4 1 -1 1 -1))
    (local.set $end (i32.add (local.get $re) (local.get $length)))
    (loop $four
      (local.set $r (v128.load (local.get $re)))
      (local.set $i (v128.load (local.get $im)))
      (local.set $or (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $r) (local.get $r)))
      (local.set $oi (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $i) (local.get $i)))
      ;; 0 + 2, 1 + 3, 0 - 2, and 1 - 3 turned by a quarter.
      (local.set $r
        (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 28 29 30 31
          (f32x4.add (local.get $r) (local.get $or))
          (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23
            (f32x4.sub (local.get $r) (local.get $or))
            (f32x4.sub (local.get $i) (local.get $oi)))))
      (local.set $or (f32x4.sub (v128.load (local.get $re)) (local.get $or)))
      (local.set $i
        (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 28 29 30 31
          (f32x4.add (local.get $i) (local.get $oi))
          (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23
            (f32x4.sub (local.get $i) (local.get $oi))
            (f32x4.neg (local.get $or)))))
      (v128.store (local.get $re)
        (f32x4.add (f32x4.mul (local.get $r) (local.get $sign))
          (i8x16.shuffle 4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11 (local.get $r) (local.get $r))))
      (v128.store (local.get $im)
        (f32x4.add (f32x4.mul (local.get $i) (local.get $sign))
          (i8x16.shuffle 4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11 (local.get $i) (local.get $i))))
      (local.set $re (i32.add (local.get $re) (i32.const 16)))
      (local.set $im (i32.add (local.get $im) (i32.const 16)))
      (br_if $four (i32.lt_u (local.get $re) (local.get $end)))))

  ;; The first two stages of the way back.
  (func (export "joinFirst") (param $re i32) (param $im i32) (param $length i32)
    (local $end i32) (local $r v128) (local $i v128) (local $tr v128) (local $ti v128) (local $sign v128) (local $half v128)
    (local.set $sign (v128.const f32x4 1 -1 1 -1))
    (local.set $half (v128.const f32x4 1 1 -1 -1))
    (local.set $end (i32.add (local.get $re) (local.get $length)))
    (loop $four
      (local.set $r (v128.load (local.get $re)))
      (local.set $i (v128.load (local.get $im)))
      (local.set $r
        (f32x4.add (f32x4.mul (local.get $r) (local.get $sign))
          (i8x16.shuffle 4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11 (local.get $r) (local.get $r))))
      (local.set $i
        (f32x4.add (f32x4.mul (local.get $i) (local.get $sign))
          (i8x16.shuffle 4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11 (local.get $i) (local.get $i))))
      ;; The third of four goes in as it is, the fourth turned by a quarter.
      (local.set $tr (i8x16.shuffle 8 9 10 11 28 29 30 31 8 9 10 11 28 29 30 31 (local.get $r) (f32x4.neg (local.get $i))))
      (local.set $ti (i8x16.shuffle 8 9 10 11 28 29 30 31 8 9 10 11 28 29 30 31 (local.get $i) (local.get $r)))
      (v128.store (local.get $re)
        (f32x4.add (i8x16.shuffle 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 (local.get $r) (local.get $r))
          (f32x4.mul (local.get $tr) (local.get $half))))
      (v128.store (local.get $im)
        (f32x4.add (i8x16.shuffle 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 (local.get $i) (local.get $i))
          (f32x4.mul (local.get $ti) (local.get $half))))
      (local.set $re (i32.add (local.get $re) (i32.const 16)))
      (local.set $im (i32.add (local.get $im) (i32.const 16)))
      (br_if $four (i32.lt_u (local.get $re) (local.get $end)))))

  ;; Multiplies a spectrum by the conjugate of another one, in place.
  (func (export "match") (param $re i32) (param $im i32) (param $otherRe i32) (param $otherIm i32) (param $length i32)
    (local $end i32) (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (local.set $end (i32.add (local.get $re) (local.get $length)))
    (loop $four
      (local.set $a (v128.load (local.get $re)))
      (local.set $b (v128.load (local.get $im)))
      (local.set $c (v128.load (local.get $otherRe)))
      (local.set $d (v128.load (local.get $otherIm)))
      (v128.store (local.get $re)
        (f32x4.add (f32x4.mul (local.get $a) (local.get $c)) (f32x4.mul (local.get $b) (local.get $d))))
      (v128.store (local.get $im)
        (f32x4.sub (f32x4.mul (local.get $b) (local.get $c)) (f32x4.mul (local.get $a) (local.get $d))))
      (local.set $re (i32.add (local.get $re) (i32.const 16)))
      (local.set $im (i32.add (local.get $im) (i32.const 16)))
      (local.set $otherRe (i32.add (local.get $otherRe) (i32.const 16)))
      (local.set $otherIm (i32.add (local.get $otherIm) (i32.const 16)))
      (br_if $four (i32.lt_u (local.get $re) (local.get $end)))))

  (func $total (param $v v128) (result f32)
    (f32.add
      (f32.add (f32x4.extract_lane 0 (local.get $v)) (f32x4.extract_lane 1 (local.get $v)))
      (f32.add (f32x4.extract_lane 2 (local.get $v)) (f32x4.extract_lane 3 (local.get $v)))))

  ;; Writes the products of $a and of $b with $shifted to $out, one behind the other. The length may be 0.
  (func (export "products") (param $a i32) (param $b i32) (param $shifted i32) (param $length i32) (param $out i32)
    (local $at i32) (local $one v128) (local $two v128) (local $s v128)
    (block $done
      (br_if $done (i32.eqz (local.get $length)))
      (loop $four
        (local.set $s (v128.load (i32.add (local.get $shifted) (local.get $at))))
        (local.set $one
          (f32x4.add (local.get $one) (f32x4.mul (local.get $s) (v128.load (i32.add (local.get $a) (local.get $at))))))
        (local.set $two
          (f32x4.add (local.get $two) (f32x4.mul (local.get $s) (v128.load (i32.add (local.get $b) (local.get $at))))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br_if $four (i32.lt_u (local.get $at) (local.get $length)))))
    (f32.store (local.get $out) (call $total (local.get $one)))
    (f32.store offset=4 (local.get $out) (call $total (local.get $two))))

  ;; A row of a Cholesky factor, but for its diagonal: $row from $wanted, with the $columns rows above it, each $stride long and zero from
  ;; its diagonal on, and the inverses of their diagonals.
  (func (export "row")
    (param $row i32) (param $wanted i32) (param $above i32) (param $inverses i32) (param $columns i32) (param $stride i32)
    (local $column i32) (local $at i32) (local $end i32) (local $sum v128)
    (block $done
      (br_if $done (i32.eqz (local.get $columns)))
      (loop $next
        (local.set $sum (v128.const f32x4 0 0 0 0))
        (local.set $at (i32.const 0))
        (local.set $end (i32.shl (local.get $column) (i32.const 2)))
        (block $summed
          (br_if $summed (i32.eqz (local.get $column)))
          (loop $four
            (local.set $sum
              (f32x4.add (local.get $sum)
                (f32x4.mul
                  (v128.load (i32.add (local.get $row) (local.get $at)))
                  (v128.load (i32.add (local.get $above) (local.get $at))))))
            (local.set $at (i32.add (local.get $at) (i32.const 16)))
            (br_if $four (i32.lt_u (local.get $at) (local.get $end)))))
        (f32.store (i32.add (local.get $row) (local.get $end))
          (f32.mul
            (f32.sub (f32.load (i32.add (local.get $wanted) (local.get $end))) (call $total (local.get $sum)))
            (f32.load (i32.add (local.get $inverses) (local.get $end)))))
        (local.set $above (i32.add (local.get $above) (local.get $stride)))
        (local.set $column (i32.add (local.get $column) (i32.const 1)))
        (br_if $next (i32.lt_u (local.get $column) (local.get $columns))))))

  ;; What stands in $from, and $enters times $front less $leaves times $back.
  (func (export "slide")
    (param $from i32) (param $out i32) (param $front i32) (param $back i32) (param $length i32)
    (param $enters f32) (param $leaves f32)
    (local $end i32) (local $e v128) (local $l v128)
    (local.set $e (f32x4.splat (local.get $enters)))
    (local.set $l (f32x4.splat (local.get $leaves)))
    (local.set $end (i32.add (local.get $out) (local.get $length)))
    (loop $four
      (v128.store (local.get $out)
        (f32x4.add (v128.load (local.get $from))
          (f32x4.sub
            (f32x4.mul (local.get $e) (v128.load (local.get $front)))
            (f32x4.mul (local.get $l) (v128.load (local.get $back))))))
      (local.set $from (i32.add (local.get $from) (i32.const 16)))
      (local.set $out (i32.add (local.get $out) (i32.const 16)))
      (local.set $front (i32.add (local.get $front) (i32.const 16)))
      (local.set $back (i32.add (local.get $back) (i32.const 16)))
      (br_if $four (i32.lt_u (local.get $out) (local.get $end)))))

  ;; Deals 16-bit samples out to floats: $length of even ones and as many of odd ones.
  (func (export "dealWords") (param $from i32) (param $evens i32) (param $odds i32) (param $length i32)
    (local $end i32) (local $v v128)
    (local.set $end (i32.add (local.get $evens) (local.get $length)))
    (loop $eight
      (local.set $v (v128.load (local.get $from)))
      (v128.store (local.get $evens)
        (f32x4.convert_i32x4_s (i32x4.shr_s (i32x4.shl (local.get $v) (i32.const 16)) (i32.const 16))))
      (v128.store (local.get $odds) (f32x4.convert_i32x4_s (i32x4.shr_s (local.get $v) (i32.const 16))))
      (local.set $from (i32.add (local.get $from) (i32.const 16)))
      (local.set $evens (i32.add (local.get $evens) (i32.const 16)))
      (local.set $odds (i32.add (local.get $odds) (i32.const 16)))
      (br_if $eight (i32.lt_u (local.get $evens) (local.get $end)))))

  ;; The same with floats.
  (func (export "dealFloats") (param $from i32) (param $evens i32) (param $odds i32) (param $length i32)
    (local $end i32) (local $v v128) (local $w v128)
    (local.set $end (i32.add (local.get $evens) (local.get $length)))
    (loop $eight
      (local.set $v (v128.load (local.get $from)))
      (local.set $w (v128.load offset=16 (local.get $from)))
      (v128.store (local.get $evens)
        (i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27 (local.get $v) (local.get $w)))
      (v128.store (local.get $odds)
        (i8x16.shuffle 4 5 6 7 12 13 14 15 20 21 22 23 28 29 30 31 (local.get $v) (local.get $w)))
      (local.set $from (i32.add (local.get $from) (i32.const 32)))
      (local.set $evens (i32.add (local.get $evens) (i32.const 16)))
      (local.set $odds (i32.add (local.get $odds) (i32.const 16)))
      (br_if $eight (i32.lt_u (local.get $evens) (local.get $end)))))

  ;; Halves the rate of what was dealt out, through a half-band low-pass of 15 samples.
  (func (export "halve") (param $evens i32) (param $odds i32) (param $out i32) (param $length i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $out) (local.get $length)))
    (loop $four
      (v128.store (local.get $out)
        (f32x4.add
          (f32x4.add
            (f32x4.mul (v128.const f32x4 0.5 0.5 0.5 0.5) (v128.load offset=12 (local.get $odds)))
            (f32x4.mul (v128.const f32x4 0.3083 0.3083 0.3083 0.3083)
              (f32x4.add (v128.load offset=12 (local.get $evens)) (v128.load offset=16 (local.get $evens)))))
          (f32x4.add
            (f32x4.mul (v128.const f32x4 -0.0763 -0.0763 -0.0763 -0.0763)
              (f32x4.add (v128.load offset=8 (local.get $evens)) (v128.load offset=20 (local.get $evens))))
            (f32x4.add
              (f32x4.mul (v128.const f32x4 0.0233 0.0233 0.0233 0.0233)
                (f32x4.add (v128.load offset=4 (local.get $evens)) (v128.load offset=24 (local.get $evens))))
              (f32x4.mul (v128.const f32x4 -0.0053 -0.0053 -0.0053 -0.0053)
                (f32x4.add (v128.load (local.get $evens)) (v128.load offset=28 (local.get $evens))))))))
      (local.set $out (i32.add (local.get $out) (i32.const 16)))
      (local.set $evens (i32.add (local.get $evens) (i32.const 16)))
      (local.set $odds (i32.add (local.get $odds) (i32.const 16)))
      (br_if $four (i32.lt_u (local.get $out) (local.get $end)))))

  ;; Takes 0.7 of the sample before away from each. $from begins with the one before the first.
  (func (export "flatten") (param $from i32) (param $out i32) (param $length i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $out) (local.get $length)))
    (loop $four
      (v128.store (local.get $out)
        (f32x4.sub (v128.load offset=4 (local.get $from))
          (f32x4.mul (v128.const f32x4 0.7 0.7 0.7 0.7) (v128.load (local.get $from)))))
      (local.set $out (i32.add (local.get $out) (i32.const 16)))
      (local.set $from (i32.add (local.get $from) (i32.const 16)))
      (br_if $four (i32.lt_u (local.get $out) (local.get $end))))))
