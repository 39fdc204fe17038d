import java.io.BufferedReader;
import java.io.FileReader;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import weka.attributeSelection.ReliefFAttributeEval;
import weka.classifiers.Classifier;
import weka.classifiers.bayes.BayesNet;
import weka.classifiers.bayes.NaiveBayes;
import weka.classifiers.bayes.net.ParentSet;
import weka.classifiers.functions.Winnow;
import weka.core.Instances;

/**
 * Runs jobs, one a line of the file given, and prints lines of numbers separated by blanks.
 *
 * <p>winnow train.arff test.arff alpha beta threshold weight iterations seed: prints the order of presentation, the
 * weights, the number of mistakes and the predictions. bayes train.arff test.arff: one line, the posteriors row by row.
 * network train.arff test.arff options: the parent of each attribute beside the class, -1 for none; the posteriors.
 * relieff train.arff test.arff neighbours: one line, the weights of the attributes, which are before the class.
 * A class of Weka train.arff test.arff options: one line, the predictions.
 */
public class WekaPeer {
  public static void main(String[] arguments) throws Exception {
    for (String[] job : read(arguments[0])) {
      Instances train = load(job[1]);
      Instances test = load(job[2]);
      if (job[0].equals("winnow")) {
        winnow(train, test, job);
      } else if (job[0].equals("bayes")) {
        posteriors(new NaiveBayes(), train, test);
      } else if (job[0].equals("network")) {
        network(train, test, Arrays.copyOfRange(job, 3, job.length));
      } else if (job[0].equals("relieff")) {
        relieff(train, Integer.parseInt(job[3]));
      } else {
        predictions(train, test, job);
      }
    }
  }

  private static void predictions(Instances train, Instances test, String[] job) throws Exception {
    String[] options = Arrays.copyOfRange(job, 3, job.length);
    Classifier learner = Classifier.forName(job[0], options);
    learner.buildClassifier(train);
    double[] predictions = new double[test.numInstances()];
    for (int i = 0; i < predictions.length; i++) {
      predictions[i] = learner.classifyInstance(test.instance(i));
    }
    print(predictions);
  }

  private static void relieff(Instances train, int neighbours) throws Exception {
    ReliefFAttributeEval evaluator = new ReliefFAttributeEval();
    evaluator.setNumNeighbours(neighbours);
    evaluator.buildEvaluator(train);
    double[] weights = new double[train.numAttributes() - 1];
    for (int j = 0; j < weights.length; j++) {
      weights[j] = evaluator.evaluateAttribute(j);
    }
    print(weights);
  }

  private static void winnow(Instances train, Instances test, String[] job) throws Exception {
    Winnow learner = new Winnow();
    learner.setAlpha(Double.parseDouble(job[3]));
    learner.setBeta(Double.parseDouble(job[4]));
    learner.setThreshold(Double.parseDouble(job[5]));
    learner.setDefaultWeight(Double.parseDouble(job[6]));
    learner.setNumIterations(Integer.parseInt(job[7]));
    int seed = Integer.parseInt(job[8]);
    learner.setSeed(seed);
    learner.buildClassifier(train);
    print(order(train.numInstances(), seed));
    print((double[]) hidden(learner, "m_predPosVector"));
    print(((Integer) hidden(learner, "m_Mistakes")).doubleValue());
    double[] predictions = new double[test.numInstances()];
    for (int i = 0; i < predictions.length; i++) {
      predictions[i] = learner.classifyInstance(test.instance(i));
    }
    print(predictions);
  }

  private static void network(Instances train, Instances test, String[] options) throws Exception {
    BayesNet learner = new BayesNet();
    learner.setOptions(options);
    learner.buildClassifier(train);
    double[] parents = new double[train.numAttributes() - 1];
    for (int j = 0; j < parents.length; j++) {
      ParentSet own = learner.getParentSet(j);
      parents[j] = -1;
      for (int i = 0; i < own.getNrOfParents(); i++) {
        parents[j] = own.getParent(i) == train.classIndex() ? parents[j] : own.getParent(i);
      }
    }
    print(parents);
    posteriors(learner, train, test);
  }

  private static void posteriors(Classifier learner, Instances train, Instances test) throws Exception {
    learner.buildClassifier(train);
    double[] posteriors = new double[test.numInstances() * test.numClasses()];
    for (int i = 0; i < test.numInstances(); i++) {
      double[] row = learner.distributionForInstance(test.instance(i));
      System.arraycopy(row, 0, posteriors, i * row.length, row.length);
    }
    print(posteriors);
  }

  /** The order into which Instances.randomize puts the rows; -1 leaves it as it is. */
  private static double[] order(int size, int seed) {
    double[] order = new double[size];
    for (int i = 0; i < size; i++) {
      order[i] = i;
    }
    Random random = new Random(seed);
    for (int j = size - 1; j > 0 && seed != -1; j--) {
      int k = random.nextInt(j + 1);
      double other = order[j];
      order[j] = order[k];
      order[k] = other;
    }
    return order;
  }

  private static Object hidden(Object owner, String name) throws Exception {
    Field field = owner.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field.get(owner);
  }

  /** The class is the attribute of that name. */
  private static Instances load(String path) throws Exception {
    try (BufferedReader reader = new BufferedReader(new FileReader(path))) {
      Instances rows = new Instances(reader);
      rows.setClass(rows.attribute("class"));
      return rows;
    }
  }

  private static List<String[]> read(String path) throws Exception {
    List<String[]> jobs = new ArrayList<>();
    try (BufferedReader reader = new BufferedReader(new FileReader(path))) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        jobs.add(line.split(" "));
      }
    }
    return jobs;
  }

  private static void print(double... numbers) {
    StringBuilder line = new StringBuilder();
    for (double number : numbers) {
      line.append(number).append(' ');
    }
    System.out.println(line);
  }
}
