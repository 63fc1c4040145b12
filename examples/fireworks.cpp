// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Things that are born and die: rockets climb and burst into sparks, sparks fall and go out. Each
// step is a pass over all rockets and one over all sparks; no one keeps a list of them. The objects
// of a type lie in memory as a structure of arrays, so neighbouring threads read neighbouring
// words. One source for both models: fireworks.cu includes this file for nvcc.
//
//   fireworks [HEAP_BYTES]   with a small heap, watch rockets burst into fewer sparks

#include <warpheap/core/parse_bytes.hpp>
#include <warpheap/core/random.hpp>
#include <warpheap/managers/dynasoar/objects.hpp>
#include <warpheap/warpheap.hpp>

#include <cstdio>
#include <cstdlib>

using namespace warpheap::literals;
namespace simt = warpheap::simt;

constexpr std::uint32_t rockets = 2000;
constexpr std::uint32_t sparks_each = 40;
constexpr std::uint32_t most_fuse = 60;  // steps until a rocket bursts
constexpr std::uint32_t spark_life = 25;
constexpr float gravity = 0.02f;

struct rocket {
  float x, height;
  std::uint32_t fuse;
  std::uint32_t number;
  // Every member, in order: each becomes an array in the blocks of this type.
  using fields = warpheap::field_list<&rocket::x, &rocket::height, &rocket::fuse, &rocket::number>;
};

struct spark {
  float x, height;
  float speed_x, speed_up;
  std::uint32_t age;
  using fields = warpheap::field_list<&spark::x, &spark::height, &spark::speed_x, &spark::speed_up,
                                      &spark::age>;
};

using objects = warpheap::dynasoar_objects<warpheap::type_list<rocket, spark>>;
using sky_ref = warpheap::handle<objects>;

WARPHEAP_HD inline std::uint32_t fuse_of(std::uint64_t number) {
  return 1 + warpheap::random_sequence(number).below(most_fuse);
}

struct launch_rockets {
  sky_ref sky;
  WARPHEAP_DEVICE void operator()() const {
    const auto number = static_cast<std::uint32_t>(simt::thread_rank());
    if (number >= rockets) return;
    sky.make<rocket>(rocket{static_cast<float>(number), 0, fuse_of(number), number});
  }
};

/// What a pass does to one rocket.
struct climb {
  sky_ref sky;
  WARPHEAP_DEVICE void operator()(objects::pointer<rocket> me) const {
    me.get<&rocket::height>() += 1;
    if (--me.get<&rocket::fuse>() != 0) return;
    warpheap::random_sequence random(me.get<&rocket::number>());
    for (std::uint32_t i = 0; i < sparks_each; ++i) {
      const auto sideways = static_cast<float>(random.below(1000)) / 1000 - 0.5f;
      const auto up = static_cast<float>(random.below(1000)) / 1000;
      const spark one{me.get<&rocket::x>(), me.get<&rocket::height>(), sideways, up, 0};
      if (!sky.make<spark>(one)) break;  // out of memory: fewer sparks
    }
    sky.destroy<rocket>(me);  // a visit may destroy its own object
  }
};

/// What a pass does to one spark.
struct fall {
  sky_ref sky;
  WARPHEAP_DEVICE void operator()(objects::pointer<spark> me) const {
    me.get<&spark::x>() += me.get<&spark::speed_x>();
    me.get<&spark::speed_up>() -= gravity;
    me.get<&spark::height>() += me.get<&spark::speed_up>();
    if (++me.get<&spark::age>() == spark_life) sky.destroy<spark>(me);
  }
};

/// The number of objects after `step` steps if memory lasts: a rocket with fuse f bursts in step
/// f, and its sparks go out `spark_life` steps later.
std::uint64_t expected_after(std::uint32_t step) {
  std::uint64_t sum = 0;
  for (std::uint32_t number = 0; number < rockets; ++number) {
    const std::uint32_t fuse = fuse_of(number);
    if (step < fuse) ++sum;
    if (step >= fuse && step < fuse + spark_life) sum += sparks_each;
  }
  return sum;
}

int main(int argc, char** argv) {
  try {
    const std::size_t heap_bytes = argc > 1 ? warpheap::parse_bytes("HEAP_BYTES", argv[1]) : 8_MiB;
#if WARPHEAP_CUDA_MODEL
    const auto device = warpheap::device::cuda(0);
#else
    const auto device = warpheap::device::cpu();
#endif
    const warpheap::heap<objects> sky{device, heap_bytes};
    device.launch(simt::grid::covering(rockets), launch_rockets{sky.ref()});

    std::uint32_t right = 0;
    std::uint64_t most = 0;
    constexpr std::uint32_t steps = most_fuse + spark_life;
    for (std::uint32_t step = 1; step <= steps; ++step) {
      sky.parallel_do<spark>(fall{sky.ref()});
      sky.parallel_do<rocket>(climb{sky.ref()});
      const std::uint64_t alive = sky.stats().blocks_in_use;
      right += alive == expected_after(step);
      most = alive > most ? alive : most;
    }

    const warpheap::heap_stats stats = sky.stats();
    std::printf(
        "%u rockets: up to %llu objects at once; %u of %u steps have the right number; %llu "
        "at the end\n",
        rockets, static_cast<unsigned long long>(most), right, steps,
        static_cast<unsigned long long>(stats.blocks_in_use));
    if (stats.failures != 0) {
      std::printf("the heap of %llu bytes was too small: %llu objects were not made\n",
                  static_cast<unsigned long long>(stats.heap_bytes),
                  static_cast<unsigned long long>(stats.failures));
    }
    // With enough memory every step is right; with or without, everything goes out in the end.
    return (stats.failures == 0 ? right == steps : right < steps) && stats.blocks_in_use == 0
               ? EXIT_SUCCESS
               : EXIT_FAILURE;
  } catch (const warpheap::error& problem) {
    std::fprintf(stderr, "fireworks: %s\n", problem.what());
    return EXIT_FAILURE;
  }
}
